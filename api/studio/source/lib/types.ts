/** The records of the API under the names of the page, and what its parts are given. */

import type { Account, Font, Image, Key } from "./records";

export type {
  Account,
  Batch,
  BatchItem,
  Delivery,
  Destination,
  Error as ErrorBody,
  Finding,
  Font,
  Image,
  Job,
  Key,
  Preview,
  PreviewBox as Box,
  RenderWarning as Warning,
  Session,
  Tag,
  Template,
  TemplateWithContent,
  Usage,
  UsageDays,
  UsageTemplate,
  UsageTemplates,
  UserRef as User,
  Version,
  Webhook,
} from "./records";

export type Scope = Key["scopes"][number];

/** What a key may be used for, in the order of the page. */
export const SCOPES: readonly Scope[] = ["read", "render", "templates", "account"];

export type StoredFile = Image | Font;

/** What a page is given: the account, the address, and what to call after a change of language. */
export interface PageProps {
  account: Account;
  route: string[];
  onLanguage: () => void;
}
