/** Colours of Markdown: a few patterns, as a full parser would bring those of HTML and scripts with it. */

import { StreamLanguage } from "@codemirror/language";

export const markdown = StreamLanguage.define<{ fenced: boolean }>({
  startState: () => ({ fenced: false }),
  token(stream, state) {
    if (stream.sol()) {
      if (stream.match(/^\s*(```|~~~)/)) {
        state.fenced = !state.fenced;
        stream.skipToEnd();
        return "string";
      }
      if (state.fenced) return stream.skipToEnd(), "string";
      if (stream.match(/^#{1,6}\s.*/)) return "tagName";
      if (stream.match(/^\s*(?:[-*+]|\d+[.)])\s/) || stream.match(/^\s*>/)) return "number";
    }
    if (stream.match(/^`[^`]*`/)) return "string";
    if (stream.match(/^(\*\*|__)[^*_]+\1/) || stream.match(/^[*_][^*_\s][^*_]*[*_]/)) return "attributeName";
    if (stream.match(/^!?\[[^\]]*\]\([^)]*\)/)) return "propertyName";
    stream.next();
    return null;
  },
});
