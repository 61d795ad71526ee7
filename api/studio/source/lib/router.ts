/** Routing by the fragment of the address, which is not sent to servers or logged. */

import { useEffect, useState } from "preact/hooks";

/** The parts of the fragment, decoded: `#/templates/abc` is `["templates", "abc"]`. */
export function readRoute(): string[] {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter(Boolean)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

export function linkTo(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

export function goTo(...parts: string[]): void {
  location.hash = linkTo(...parts);
}

export function useRoute(): string[] {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const listen = () => setRoute(readRoute());
    addEventListener("hashchange", listen);
    return () => removeEventListener("hashchange", listen);
  }, []);
  return route;
}
