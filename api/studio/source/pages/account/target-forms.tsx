/** New webhooks and destinations, which need other fields by their kind. */

import { useId, useState } from "preact/hooks";
import { ask, askJson } from "../../lib/api";
import { t } from "../../lib/messages";
import type { Destination, DestinationRequest, Mail } from "../../lib/records";
import { Field, FormDialog } from "../../ui/parts";

const EVENTS = ["job.succeeded", "job.failed", "batch.finished"];
const MOST_LINK_HOURS = 144;

/** The kinds, each with a sample of its address. */
const KINDS: Record<Destination["kind"], string> = {
  https: "https://files.example.org/inbox",
  s3: "s3://access-key@s3.example.org/bucket/folder",
  sftp: "sftp://user@files.example.org/inbox",
  smtp: "smtp://user@mail.example.org",
};

interface FormProps {
  /** Called with the secret to be shown once, if there is one. */
  onDone: (secret: string | null) => void;
  onClose: () => void;
}

export function AddWebhook({ onDone, onClose }: FormProps) {
  const submit = async (form: FormData) => {
    const fields = { url: textOf(form, "url"), events: form.getAll("events").map(String) };
    onDone((await askJson<{ secret: string }>("POST", "/v2/webhooks", { json: fields })).secret);
  };
  return (
    <FormDialog title={t("webhooks.add")} action={t("webhooks.add")} onSubmit={submit} onClose={onClose}>
      <Field label={t("targets.url")} name="url" type="url" required maxLength={2048} placeholder="https://" autofocus />
      <fieldset>
        <legend>{t("webhooks.events")}</legend>
        {EVENTS.map((event) => (
          <Check key={event} label={event} name="events" value={event} isMono isChecked />
        ))}
      </fieldset>
    </FormDialog>
  );
}

export function AddDestination({ onDone, onClose }: FormProps) {
  const [kind, setKind] = useState<Destination["kind"]>("https");
  const submit = async (form: FormData) => {
    await ask("POST", "/v2/destinations", { json: readFields(form, kind) });
    onDone(null);
  };
  return (
    <FormDialog title={t("destinations.add")} action={t("destinations.add")} onSubmit={submit} onClose={onClose}>
      <Choice label={t("destinations.kind")} name="kind" onChange={(value) => setKind(value as Destination["kind"])}>
        {(Object.keys(KINDS) as Destination["kind"][]).map((each) => [each, t(`destinations.kind.${each}`)])}
      </Choice>
      <Field label={t("targets.url")} hint={t("destinations.urlHint", { url: KINDS[kind] })} name="url" required maxLength={2048} autocomplete="off" spellcheck={false} />
      {kind === "sftp" ? (
        <Lines label={t("destinations.secret.sftp")} name="secret" isRequired />
      ) : (
        <Field key={kind} label={t(`destinations.secret.${kind}`)} name="secret" type="password" required={kind === "s3"} autocomplete="off" />
      )}
      {kind === "sftp" && <Field label={t("destinations.hostKey")} hint={t("destinations.hostKeyHint")} name="host_key" required autocomplete="off" spellcheck={false} />}
      {kind === "smtp" ? (
        <MailFields />
      ) : (
        <>
          <Field label={t("destinations.name")} hint={t("destinations.nameHint")} name="name" defaultValue="{job}" required maxLength={200} spellcheck={false} />
          <Choice label={t("destinations.file")} name="file">
            {[
              ["pdf", t("destinations.pdf")],
              ["peppol", t("destinations.peppol")],
            ]}
          </Choice>
        </>
      )}
    </FormDialog>
  );
}

function MailFields() {
  return (
    <>
      <Field label={t("destinations.sender")} name="sender" required placeholder="Billing <billing@example.org>" />
      <Field label={t("destinations.recipient")} hint={t("destinations.recordHint")} name="recipient" required defaultValue="{record.customer.email}" spellcheck={false} />
      <Field label={t("destinations.subject")} name="subject" required />
      <Lines label={t("destinations.text")} name="text" isRequired />
      <Check label={t("destinations.markdown")} name="markdown" value="true" />
      <Field label={t("destinations.linkHours")} hint={t("destinations.linkHint")} name="link_hours" type="number" min={1} max={MOST_LINK_HOURS} />
      <Field label={t("destinations.attachment")} name="attachment" spellcheck={false} />
      <Field label={t("destinations.reportTo")} hint={t("destinations.reportHint")} name="report_to" />
    </>
  );
}

/** What the form asks for; a field that is left empty is left out. */
function readFields(form: FormData, kind: Destination["kind"]): DestinationRequest {
  const given = (names: string[]) => Object.fromEntries(names.map((name) => [name, textOf(form, name)]).filter(([, text]) => text));
  const fields: DestinationRequest = { url: textOf(form, "url"), ...given(["secret", "host_key", "name", "file"]) };
  if (kind !== "smtp") return fields;
  const mail: Mail = { sender: textOf(form, "sender"), recipient: textOf(form, "recipient"), subject: textOf(form, "subject"), text: textOf(form, "text") };
  const hours = textOf(form, "link_hours");
  return { ...fields, mail: { ...mail, ...given(["attachment", "report_to"]), ...(hours && { link_hours: Number(hours) }), ...(form.has("markdown") && { markdown: true }) } };
}

function textOf(form: FormData, name: string): string {
  return String(form.get(name) ?? "").trim();
}

function Check({ label, isMono, isChecked, ...input }: { label: string; name: string; value: string; isMono?: boolean; isChecked?: boolean }) {
  const id = useId();
  return (
    <div class="check">
      <input type="checkbox" id={id} defaultChecked={isChecked ?? false} {...input} />
      <label for={id} class={isMono ? "mono" : ""}>
        {label}
      </label>
    </div>
  );
}

/** A choice among values, each with its text; the first is chosen. */
function Choice({ label, name, onChange, children }: { label: string; name: string; onChange?: (value: string) => void; children: string[][] }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} onChange={(event) => onChange?.(event.currentTarget.value)}>
        {children.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A text of several lines. */
function Lines({ label, name, isRequired }: { label: string; name: string; isRequired: boolean }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} name={name} rows={4} required={isRequired} spellcheck={false} />
    </div>
  );
}
