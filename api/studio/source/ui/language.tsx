/** The choice of the page's language. */

import { useId } from "preact/hooks";
import { chooseLanguage, currentLanguage, type Language, t } from "../lib/messages";

export function LanguageChoice({ onChange }: { onChange: () => void }) {
  const id = useId();
  return (
    <div class="field inline">
      <label for={id}>{t("language")}</label>
      <select
        id={id}
        value={currentLanguage()}
        onChange={(event) => {
          chooseLanguage(event.currentTarget.value as Language);
          onChange();
        }}
      >
        <option value="en" lang="en">
          English
        </option>
        <option value="de" lang="de">
          Deutsch
        </option>
      </select>
    </div>
  );
}
