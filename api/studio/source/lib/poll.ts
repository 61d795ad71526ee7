/** Polling while something is in progress and the page is visible. */

import { useEffect } from "preact/hooks";

const SECONDS = 2;

/** Call `ask` every two seconds while `going`, not while the page is in the background. */
export function usePolling(going: boolean, ask: () => void): void {
  useEffect(() => {
    if (!going) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) ask();
    }, SECONDS * 1000);
    return () => clearInterval(timer);
  }, [going, ask]);
}
