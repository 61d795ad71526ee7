/** The Studio's page: the session, and the view of the current address. */

import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { ask, askJson, Failure, listenForSignOut } from "./lib/api";
import { describe } from "./lib/load";
import { t } from "./lib/messages";
import { goTo, readRoute, useRoute } from "./lib/router";
import type { Account } from "./lib/types";
import { SignIn } from "./pages/sign-in";
import { Page } from "./pages/pages";
import { Notice } from "./ui/parts";
import { Shell } from "./ui/shell";

type State =
  | { is: "unknown" }
  | { is: "away"; reason: string }
  | { is: "out"; reason: string | null }
  | { is: "in"; account: Account };

function Studio() {
  const [state, setState] = useState<State>({ is: "unknown" });
  const [, redraw] = useState(0);
  const route = useRoute();

  const look = useCallback(async () => {
    try {
      setState({ is: "in", account: await askJson<Account>("GET", "/v2/account") });
      if (readRoute()[0] === "sign-in") goTo(); // what it told is over
    } catch (failure) {
      if (failure instanceof Failure && failure.status === 401) setState({ is: "out", reason: null });
      else setState({ is: "away", reason: describe(failure) });
    }
  }, []);

  useEffect(() => {
    listenForSignOut((reason) => setState((now) => (now.is === "in" ? { is: "out", reason } : now)));
    void look();
  }, []);

  const signOut = async () => {
    try {
      await ask("DELETE", "/v2/session");
      setState({ is: "out", reason: t("signed.out") });
    } catch (failure) {
      if (!(failure instanceof Failure && failure.status === 401)) throw failure;
    }
  };

  switch (state.is) {
    case "unknown":
      return <main class="wait" aria-busy="true" />;
    case "away":
      return (
        <main class="wait">
          <h1>Pressroom Studio</h1>
          <Notice kind="error">{state.reason}</Notice>
          <button type="button" onClick={look}>
            {t("again")}
          </button>
        </main>
      );
    case "out":
      return <SignIn reason={state.reason} route={route} onSignedIn={look} onLanguage={() => redraw((n) => n + 1)} />;
    case "in":
      return (
        <Shell account={state.account} route={route} onSignOut={signOut}>
          <Page account={state.account} route={route} onLanguage={() => redraw((n) => n + 1)} />
        </Shell>
      );
  }
}

const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Studio />, place);
}
