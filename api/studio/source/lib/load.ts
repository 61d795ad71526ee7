/** Loading of data from the API, with its state. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "./api";
import { t } from "./messages";

export interface Loaded<T> {
  data: T | null;
  error: string | null;
  reload: () => void;
  set: (data: T) => void;
}

/** Load on mount and when one of `needs` changes; a later load replaces an earlier one. */
export function useLoad<T>(load: () => Promise<T>, needs: readonly unknown[]): Loaded<T> {
  const [data, set] = useState<T | null>(null);
  const [error, setError] = useState<string | null>(null);
  const turn = useRef(0);
  const reload = useCallback(() => {
    const own = ++turn.current;
    load().then(
      (found) => {
        if (own !== turn.current) return;
        set(found);
        setError(null);
      },
      (failure: unknown) => {
        if (own === turn.current) setError(describe(failure));
      },
    );
  }, needs);
  useEffect(() => {
    set(null);
    reload();
    return () => void turn.current++;
  }, [reload]);
  return { data, error, reload, set };
}

/** Return the message of an error for the user. */
export function describe(failure: unknown): string {
  if (failure instanceof Failure) return failure.status === 0 ? t("error.network") : failure.message;
  return t("error.unknown");
}
