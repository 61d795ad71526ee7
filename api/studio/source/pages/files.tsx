/** Images and fonts of the workspace: uploaded by dropping them, listed, and deleted. */

import { useId, useRef, useState } from "preact/hooks";
import { ask, askAll, askJson } from "../lib/api";
import { describe, useLoad } from "../lib/load";
import { count, formatAgo, formatBytes, formatMoment, formatNumber, type Key, t } from "../lib/messages";
import { mayChange } from "../lib/rights";
import type { Font, Image, PageProps, StoredFile } from "../lib/types";
import { Empty, FormDialog, LookOnly, Narrow, Notice, Result, Wide } from "../ui/parts";
import { FILE_WIDTH, Thumbnail } from "../ui/thumbnail";

interface Kind<F extends StoredFile> {
  plural: "images" | "fonts";
  accept: string;
  what: (file: F) => string;
  use: (file: F) => string;
  /** A template that shows the file; names have letters, digits and hyphens only. */
  draw: (file: F) => string;
}

export const IMAGE_FILES = ".png,.jpg,.jpeg,.webp,.svg,.pdf";

/** Return a template that shows a stored image. */
export function drawImage({ name }: Image): string {
  return paper(`<img src="${name}" width="56mm" height="20mm" object-fit="contain" alt="${name}"/>`);
}

function describeImage(image: Image): string {
  return `${image.content_type.replace(/^(?:image|application)\/(\w+).*/, "$1").toUpperCase()}, ${formatNumber(image.width)} × ${formatNumber(image.height)}`;
}

/** Fetch the stored images that can be drawn: ICC profiles are among them. */
export async function askPictures(options?: { most: number }): Promise<Image[]> {
  return (await askAll<Image>("/v2/images", "images", options)).filter(isPicture);
}

function isPicture({ width }: Image): boolean {
  return width > 0;
}

const IMAGES: Kind<Image> = {
  plural: "images",
  accept: `${IMAGE_FILES},.icc,.icm`,
  what: (image) => (isPicture(image) ? describeImage(image) : t("images.profile")),
  use: (image) => (isPicture(image) ? `<img src="${image.name}"/>` : `output-intent="${image.name}"`),
  draw: (image) => (isPicture(image) ? drawImage(image) : paper('<p font-size="36pt" margin="0">ICC</p>')),
};
const FONTS: Kind<Font> = {
  plural: "fonts",
  accept: ".ttf,.otf,.ttc,.otc,.woff,.woff2",
  what: (font) => font.faces.map((face) => `${face.family} ${face.style}`).join(", "),
  use: (font) => `<font family="${font.faces[0]?.family ?? ""}" src="${font.name}"/>`,
  draw: ({ name }) => paper('<p font-family="Shown" font-size="36pt" margin="0">Ag 123</p>', `<font family="Shown" src="${name}"/>`),
};

function paper(content: string, head = ""): string {
  return `<document>${head}<page size="${FILE_WIDTH}pt 24mm" margin="2mm"/><flow>${content}</flow></document>`;
}

const LONGEST_NAME = 64;
const SHORTEST_NAME = 3;

export function Images(props: PageProps) {
  return <Files kind={IMAGES} {...props} />;
}

export function Fonts(props: PageProps) {
  return <Files kind={FONTS} {...props} />;
}

/** Derive a valid name from a file name. */
export function nameOf(file: string): string {
  const plain = file
    .replace(/\.[^.]*$/, "")
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST_NAME)
    .replace(/^-+|-+$/g, "");
  return plain.length < SHORTEST_NAME ? `file-${plain || "1"}` : plain;
}

/** Return the media type of a file to store. The service reads images by their content. */
export function typeOf(file: File, plural: "images" | "fonts"): string {
  if (plural === "fonts") return "application/octet-stream";
  return file.type.startsWith("image/") ? file.type : "image/png";
}

interface Upload {
  name: string;
  error: string | null;
  done: boolean;
}

function Files<F extends StoredFile>({ kind, account }: { kind: Kind<F> } & PageProps) {
  const { plural } = kind;
  const path = `/v2/${plural}`;
  const list = useLoad(async () => {
    if (!account.has_workspace) return null;
    const [files, first] = await Promise.all([
      askAll<F>(path, plural),
      askJson<{ usage: { total_bytes: number; count: number } }>("GET", `${path}?limit=1`),
    ]);
    return { files, usage: first.usage };
  }, [path]);
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [removing, setRemoving] = useState<F | null>(null);
  const mayWrite = mayChange(account, "templates");
  const say = (key: string) => t(`${plural}.${key}` as Key);

  const upload = async (chosen: File[]) => {
    setUploads(chosen.map((file) => ({ name: nameOf(file.name), error: null, done: false })));
    for (const [at, file] of chosen.entries()) {
      let error: string | null = null;
      try {
        await ask("PUT", `${path}/${nameOf(file.name)}`, { body: file, type: typeOf(file, plural) });
      } catch (failure) {
        error = describe(failure);
      }
      setUploads((all) => all.map((each, index) => (index === at ? { ...each, error, done: true } : each)));
      list.reload();
    }
  };

  return (
    <>
      <div class="head">
        <h1>{say("title")}</h1>
        {list.data && (
          <p class="soft">
            {t(`${plural}.held`, { n: list.data.usage.count, size: formatBytes(list.data.usage.total_bytes) })}
          </p>
        )}
      </div>
      {account.has_workspace ? (
        <>
          {mayWrite && <DropZone accept={kind.accept} label={say("drop")} help={say("dropHelp")} onFiles={upload} />}
          <LookOnly account={account} lacks="templates" />
          <Uploads of={uploads} />
          <section>
            <Result of={list}>
              {() => {
                const files = list.data?.files ?? [];
                return files.length === 0 ? (
                  <Empty title={say("none")}>
                    <p>{say("noneHelp")}</p>
                  </Empty>
                ) : (
                  <FileTable kind={kind} files={files} onRemove={mayWrite ? setRemoving : null} />
                );
              }}
            </Result>
          </section>
        </>
      ) : (
        <Empty title={t("files.noWorkspace")}>
          <p>{t("files.noWorkspaceHelp")}</p>
        </Empty>
      )}
      {removing && (
        <FormDialog
          title={t("files.deleteTitle", { name: removing.name })}
          action={t("files.delete")}
          danger
          onClose={() => setRemoving(null)}
          onSubmit={async () => {
            await ask("DELETE", `${path}/${removing.name}`);
            setRemoving(null);
            list.reload();
          }}
        >
          <p>{say("deleteHelp")}</p>
        </FormDialog>
      )}
    </>
  );
}

function FileTable<F extends StoredFile>({ kind, files, onRemove }: { kind: Kind<F>; files: F[]; onRemove: ((file: F) => void) | null }) {
  return (
    <Wide label={t(`${kind.plural}.title`)}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("files.name")}</th>
            <th scope="col" class="roomy">{t("files.what")}</th>
            <th scope="col" class="number roomy">
              {t("files.size")}
            </th>
            <th scope="col" class="roomy">{t("files.changed")}</th>
            <th scope="col" class="roomy">{t("files.use")}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <tr key={file.name}>
              <th scope="row" class="pictured">
                <Thumbnail template={kind.draw(file)} version={`${kind.plural} ${file.name} ${file.updated_at}`} isWide />
                <b>{file.name}</b>
                <Narrow>
                  {kind.what(file)} · {formatBytes(file.bytes)} · {formatAgo(file.updated_at)}
                </Narrow>
              </th>
              <td class="roomy">{kind.what(file)}</td>
              <td class="number roomy">{formatBytes(file.bytes)}</td>
              <td class="roomy" title={formatMoment(file.updated_at)}>{formatAgo(file.updated_at)}</td>
              <td class="roomy">
                <code>{kind.use(file)}</code>
              </td>
              <td class="row-actions">
                {onRemove && (
                  <button type="button" class="quiet danger" aria-label={t("files.deleteThis", { name: file.name })} onClick={() => onRemove(file)}>
                    {t("files.delete")}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

/** A drop zone for files, which is also a button to choose them. */
export function DropZone({
  accept,
  label,
  help,
  onFiles,
  multiple = true,
}: {
  accept: string;
  label: string;
  help: string;
  onFiles: (files: File[]) => void;
  multiple?: boolean;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const id = useId();
  const take = (files: FileList | null | undefined) => {
    if (files && files.length > 0) onFiles(multiple ? [...files] : [...files].slice(0, 1));
  };
  return (
    <div
      class={over ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <input
        ref={input}
        id={id}
        class="visually-hidden"
        type="file"
        accept={accept}
        multiple={multiple}
        aria-describedby={`${id}-help`}
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <label for={id}>{label}</label>
      <p class="soft" id={`${id}-help`}>
        {help}
      </p>
    </div>
  );
}

function Uploads({ of: uploads }: { of: Upload[] }) {
  if (uploads.length === 0) return null;
  const failed = uploads.filter((each) => each.error !== null);
  const waiting = uploads.filter((each) => !each.done).length;
  const stored = uploads.length - failed.length - waiting;
  return (
    <div class="uploads">
      {waiting > 0 && <Notice>{count("files.uploading", waiting)}</Notice>}
      {stored > 0 && waiting === 0 && <Notice kind="good">{count("files.stored", stored)}</Notice>}
      {failed.map((each) => (
        <Notice key={each.name} kind="error">
          <b>{each.name}</b>: {each.error}
        </Notice>
      ))}
    </div>
  );
}
