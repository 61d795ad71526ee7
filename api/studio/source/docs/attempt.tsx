/** The form that sends an operation, and its response. */

import { useId, useState } from "preact/hooks";
import { saveFile } from "../lib/download";
import { formatBytes, t } from "../lib/messages";
import { Field, Notice } from "../ui/parts";
import { type Operation, type Parameter, valueOf } from "./description";

const MOST_SHOWN = 100_000; // characters

interface Answer {
  response: Response;
  milliseconds: number;
  /** The text, or null where it is no text. */
  text: string | null;
  size: number;
}

interface Props {
  operation: Operation;
  /** The key, or an empty text to send it with the session of the Studio. */
  sendWith: string;
  values: Record<string, string>;
  setValues: (values: Record<string, string>) => void;
  body: string | null;
  setBody: (body: string) => void;
}

export function Try({ operation, sendWith, values, setValues, body, setBody }: Props) {
  const [media, setMedia] = useState(() => Object.keys(operation.body?.content ?? {}).at(-1) ?? "");
  const [file, setFile] = useState<File | null>(null);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState(false);
  const [busy, setBusy] = useState(false);
  const id = useId();
  const example = operation.body?.content[media]?.example;
  const text = body ?? (typeof example === "string" ? example : example === undefined ? "" : JSON.stringify(example, null, 2));
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(false);
    try {
      setAnswer(await ask(operation, values, { sendWith, media, body: file ?? text }));
    } catch {
      setAnswer(null);
      setError(true);
    } finally {
      setBusy(false);
    }
  };
  return (
    <details class="try">
      <summary>
        {t("docs.try")}
        <span class="visually-hidden">: {operation.summary}</span>
      </summary>
      <form onSubmit={send}>
        {operation.parameters.map((parameter) => (
          <Field
            key={parameter.name}
            label={parameter.name}
            required={parameter.required}
            value={parameter.required ? (values[parameter.name] ?? valueOf(parameter, {})) : (values[parameter.name] ?? "")}
            placeholder={String(parameter.example ?? "")}
            spellcheck={false}
            onInput={({ currentTarget }) => setValues({ ...values, [parameter.name]: currentTarget.value })}
          />
        ))}
        {operation.body && (
          <>
            <div class="field">
              <label for={`${id}-media`}>Content-Type</label>
              <select id={`${id}-media`} value={media} onChange={({ currentTarget }) => setMedia(currentTarget.value)}>
                {Object.keys(operation.body.content).map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </div>
            <div class="field">
              <label for={`${id}-body`}>{t("docs.body")}</label>
              <textarea
                id={`${id}-body`}
                class="mono"
                rows={6}
                spellcheck={false}
                disabled={file !== null}
                value={text}
                onInput={({ currentTarget }) => setBody(currentTarget.value)}
              />
            </div>
            <div class="field">
              <label for={`${id}-file`}>{t("docs.file")}</label>
              <input id={`${id}-file`} type="file" onChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)} />
            </div>
          </>
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={busy}>
            {t("docs.send")}
          </button>
        </div>
      </form>
      <div aria-live="polite">
        {error && <Notice kind="error">{t("error.network")}</Notice>}
        {answer && <Shown answer={answer} name={operation.summary} />}
      </div>
    </details>
  );
}

function Shown({ answer: { response, milliseconds, text, size }, name }: { answer: Answer; name: string }) {
  return (
    <div class="answer">
      <p>
        <b class={response.ok ? "good" : "bad"}>
          {response.status} {response.statusText}
        </b>{" "}
        <span class="soft">
          {milliseconds} ms · {formatBytes(size)} · {response.headers.get("Content-Type")}
        </span>
      </p>
      {text === null ? (
        <button type="button" onClick={() => saveFile(response.clone(), "response")}>
          {t("docs.save")}
        </button>
      ) : (
        <pre tabIndex={0} role="group" aria-label={t("docs.answerOf", { name })}>
          <code>{text.slice(0, MOST_SHOWN)}</code>
        </pre>
      )}
    </div>
  );
}

async function ask(
  { method, path, parameters, body: accepted }: Operation,
  values: Record<string, string>,
  { sendWith, media, body }: { sendWith: string; media: string; body: string | File },
): Promise<Answer> {
  const given = (place: Parameter["in"]): [string, string][] =>
    parameters
      .filter((each) => each.in === place)
      .map((each): [string, string] => [each.name, each.required ? valueOf(each, values) : (values[each.name] ?? "")])
      .filter(([, value]) => value !== "");
  const filled = given("path").reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path);
  const query = new URLSearchParams(given("query")).toString();
  const headers = new Headers(given("header"));
  if (sendWith) headers.set("Authorization", `Bearer ${sendWith}`);
  else headers.set("X-Pressroom-Studio", "1");
  const request: RequestInit = { method: method.toUpperCase(), headers, cache: "no-store" };
  // A key typed in is the only one that is sent: a session would hide that it is wrong.
  request.credentials = sendWith ? "omit" : "same-origin";
  if (accepted && (body instanceof File || body !== "")) {
    headers.set("Content-Type", media);
    request.body = body;
  }
  const begun = performance.now();
  const response = await fetch(filled + (query && `?${query}`), request);
  const kept = response.clone();
  const data = await response.arrayBuffer();
  const milliseconds = Math.round(performance.now() - begun);
  const type = response.headers.get("Content-Type") ?? "";
  const isText = /^text\/|json|xml|^$/.test(type);
  return { response: kept, milliseconds, size: data.byteLength, text: isText ? write(new TextDecoder().decode(data)) : null };
}

function write(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
