/** What the session may do, by the scopes of its key. The API checks them; the page offers no more. */

import type { Account, Scope } from "./types";

/** Whether the session may change what a scope is for. */
export function mayChange(account: Account, scope: Scope): boolean {
  return account.scopes.includes(scope);
}

/** Whether the session may see it; keys and what an account sends to need the scope `account` itself. */
export function maySee(account: Account, scope: Scope): boolean {
  return mayChange(account, scope) || account.scopes.includes("read");
}
