/** The settings of a template as a form; each input changes the text of the template. */

import { useId, useRef, useState } from "preact/hooks";
import { ask } from "../../lib/api";
import { describe, useLoad } from "../../lib/load";
import { t } from "../../lib/messages";
import type { Account } from "../../lib/types";
import { Notice } from "../../ui/parts";
import { Thumbnail } from "../../ui/thumbnail";
import { nameLabel } from "../../messages/labels";
import { askPictures, drawImage, IMAGE_FILES, nameOf, typeOf } from "../files";
import type { Setting } from "./declarations";
import { Labelled, ValueInput } from "./inputs";

export function SettingsForm({
  account,
  settings,
  isFixed,
  onChange,
}: {
  account: Account;
  settings: Setting[];
  isFixed: boolean;
  /** `isNew` is true for the first change since the input was entered: each visit is one step to undo. */
  onChange: (name: string, value: string, isNew: boolean) => void;
}) {
  const changed = useRef("");
  const change = (name: string, value: string) => {
    onChange(name, value, changed.current !== name);
    changed.current = name;
  };
  return (
    <div class="fields" onFocusOut={() => (changed.current = "")}>
      {settings.map((each) =>
        each.type === "image" ? (
          <ImageInput key={each.name} account={account} label={each.label} value={each.value} isFixed={isFixed || each.isFinal} onChange={(value) => change(each.name, value)} />
        ) : (
          <ValueInput key={each.name} {...each} isFixed={isFixed || each.isFinal} onChange={(value) => change(each.name, value)} />
        ),
      )}
    </div>
  );
}

/** A stored image: chosen from those of the workspace, or uploaded under a name of its own. */
export function ImageInput({
  account,
  label,
  value,
  isFixed,
  onChange,
}: {
  account: Account;
  label: string;
  value: string;
  isFixed: boolean;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const images = useLoad(async () => (account.has_workspace ? askPictures() : []), []);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const names = (images.data ?? []).map(({ name }) => name);
  const shown = images.data?.find(({ name }) => name === value);
  const upload = async (chosen: File) => {
    setBusy(true);
    setError(null);
    try {
      const name = findFreeName(nameOf(chosen.name), names);
      await ask("PUT", `/v2/images/${name}`, { body: chosen, type: typeOf(chosen, "images") });
      images.reload();
      onChange(name);
    } catch (failure) {
      setError(describe(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Labelled id={id} label={label} isWide>
      <div class="image-input">
        {shown && <Thumbnail key={shown.name} template={drawImage(shown)} version={`images ${shown.name} ${shown.updated_at}`} isWide />}
        <select id={id} value={value} disabled={isFixed} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">{t("form.noImage")}</option>
          {[...new Set(value ? [...names, value] : names)].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {!isFixed && account.has_workspace && (
          <>
            <input
              ref={file}
              type="file"
              class="visually-hidden"
              accept={IMAGE_FILES}
              tabIndex={-1}
              aria-label={t("form.uploadOf", { label: nameLabel(label) })}
              onChange={(event) => {
                const chosen = event.currentTarget.files?.[0];
                if (chosen) void upload(chosen);
                event.currentTarget.value = "";
              }}
            />
            <button type="button" aria-disabled={isBusy} onClick={() => isBusy || file.current?.click()}>
              {t(isBusy ? "form.uploading" : "form.upload")}
            </button>
          </>
        )}
      </div>
      {error !== null && <Notice kind="error">{error}</Notice>}
    </Labelled>
  );
}

/** An image of the same name would be replaced, in all documents that show it. */
function findFreeName(name: string, taken: string[]): string {
  for (let n = 2, free = name; ; n += 1) {
    if (!taken.includes(free)) return free;
    free = `${name.slice(0, 60)}-${n}`;
  }
}
