/** A batch with an output plan: its account, its proof, its files, and what is done with held and delivered documents. */

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { askJson } from "../lib/api";
import { useLoad } from "../lib/load";
import { count, formatNumber, t } from "../lib/messages";
import { usePolling } from "../lib/poll";
import type { HeldDocuments, Reprint, RunAccount, RunFile, StoredPlan } from "../lib/records";
import type { Batch } from "../lib/types";
import { Field, FormDialog, Notice, Result } from "../ui/parts";

type Asked = "release" | "reject" | "reprint" | "rejectProof";
const STATES = ["delivered", "held", "rejected", "failed", "cancelled", "open"] as const;
const PROOF = "proof";

interface RunProps {
  batch: Batch;
  isGoing: boolean;
  mayDecide: boolean;
  onSave: (from: string, name: string) => void;
  onDecide: () => void;
}

export function Run({ batch, isGoing, mayDecide, onSave, onDecide }: RunProps) {
  const path = `/v2/batches/${encodeURIComponent(batch.id)}`;
  const account = useLoad(() => askJson<RunAccount>("GET", `${path}/account`), [path, batch.status]);
  const proofs = useLoad(() => readProofs(batch), [batch.plan]);
  const [asked, setAsked] = useState<Asked | null>(null);
  const { data } = account;
  const reprints = data?.reprints ?? [];
  usePolling(isGoing || (data?.open ?? 0) > 0 || reprints.some((each) => !each.sha256), account.reload);
  const decide = async (call: "release" | "reject", which: HeldDocuments) => {
    account.set(await askJson<RunAccount>("POST", `${path}/${call}`, { json: which }));
    setAsked(null);
    onDecide();
  };
  // Nothing leaves while the proof waits for its release: what was made is held.
  const atProof = ({ held, proof, files }: RunAccount) => proofs.data !== null && (isGoing ? !proof || held > 0 : held > 0 && files.length === 0);
  const canDecide = mayDecide && batch.status === "finished" && !batch.error;
  return (
    <section aria-labelledby="run">
      <h2 id="run">{t("run.title")}</h2>
      <Result of={account}>
        {(known) => (
          <>
            <Sums of={known} />
            {atProof(known) && proofs.data !== null && (
              <Proof of={known.proof} documents={proofs.data} path={path} onSave={onSave}>
                {mayDecide && (
                  <>
                    <Act onAct={() => decide("release", { reason: PROOF })} primary>
                      {t("run.releaseProof")}
                    </Act>
                    <button type="button" class="danger" onClick={() => setAsked("rejectProof")}>
                      {t("run.rejectProof")}
                    </button>
                  </>
                )}
              </Proof>
            )}
            {canDecide && known.held > 0 && !atProof(known) && (
              <Notice>
                <p>{count("run.held", known.held)}</p>
                <div class="actions">
                  <button type="button" class="primary" onClick={() => setAsked("release")}>
                    {t("run.release")}
                  </button>
                  <button type="button" class="danger" onClick={() => setAsked("reject")}>
                    {t("run.reject")}
                  </button>
                </div>
              </Notice>
            )}
            <div class="head">
              <h3>{t("plans.files")}</h3>
              <div class="actions">
                {canDecide && known.files.length > 0 && (
                  <button type="button" onClick={() => setAsked("reprint")}>
                    {t("run.reprint")}
                  </button>
                )}
                {batch.status === "finished" && !batch.error && (
                  <button type="button" onClick={() => onSave(`${path}/index`, "index")}>
                    {t("batches.index")}
                  </button>
                )}
              </div>
            </div>
            {known.files.length === 0 && !atProof(known) && <p class="soft">{t(whyNoFiles(batch, known, isGoing))}</p>}
            <ul class="files">
              {known.files.map((file) => (
                <File key={file.number} of={file} name={t("batches.file", { n: file.number })} path={`${path}/files/${file.number}`} onSave={onSave} />
              ))}
              {!atProof(known) && known.proof && <File of={known.proof} name={t("run.proof")} path={`${path}/files/${PROOF}`} onSave={onSave} />}
              {reprints.map((file) => (
                <File key={`r${file.number}`} of={file} name={t("run.reprintOf", { n: file.number })} path={`${path}/files/reprint-${file.number}`} onSave={onSave} />
              ))}
            </ul>
          </>
        )}
      </Result>
      {(asked === "release" || asked === "reject") && (
        <FormDialog
          title={t(`run.${asked}Title`)}
          action={t(`run.${asked}`)}
          danger={asked === "reject"}
          onClose={() => setAsked(null)}
          onSubmit={(form) => decide(asked, readHeld(form))}
        >
          <p>{t(`run.${asked}Help`)}</p>
          <Which />
        </FormDialog>
      )}
      {asked === "rejectProof" && (
        <FormDialog title={t("run.rejectProofTitle")} action={t("run.rejectProof")} danger onClose={() => setAsked(null)} onSubmit={() => decide("reject", { reason: PROOF })}>
          <p>{t("run.rejectProofHelp")}</p>
        </FormDialog>
      )}
      {asked === "reprint" && (
        <FormDialog
          title={t("run.reprintTitle")}
          action={t("run.reprint")}
          onClose={() => setAsked(null)}
          onSubmit={async (form) => {
            await askJson<RunFile>("POST", `${path}/reprint`, { json: readReprint(form) });
            setAsked(null);
            account.reload();
          }}
        >
          <p>{t("run.reprintHelp")}</p>
          <Range files={data?.files.length ?? 1} />
        </FormDialog>
      )}
    </section>
  );
}

/** Return how many documents the proof of a run has, null if its plan asks for none. */
async function readProofs({ plan }: Batch): Promise<number | null> {
  const [name = "", version = ""] = (plan ?? "").split("@");
  // A plan that was deleted meanwhile cannot say so: the account then does, as soon as the proof is written.
  const stored = await askJson<StoredPlan>("GET", `/v2/plans/${encodeURIComponent(name)}?version=${version}`).catch(() => null);
  return stored?.plan.hold?.proof ?? null;
}

function whyNoFiles(batch: Batch, { held, rejected }: RunAccount, isGoing: boolean) {
  if (isGoing) return "run.waiting";
  if (batch.status === "cancelled") return "run.cancelledFiles";
  if (held > 0) return "run.allHeld";
  return rejected > 0 ? "run.allRejected" : "run.noFiles";
}

/** What became of the documents: the six sums add up to those asked for. */
function Sums({ of: account }: { of: RunAccount }) {
  const shown = ["asked", ...STATES, "pages", "sheets", ...(account.covers > 0 ? (["covers"] as const) : [])] as const;
  return (
    <dl class="sums">
      {shown.map((name) => (
        <div key={name} class={account[name] > 0 ? name : "none"}>
          <dt>{t(`run.${name}`)}</dt>
          <dd>{formatNumber(account[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ProofProps {
  of: RunFile | undefined;
  documents: number;
  path: string;
  onSave: RunProps["onSave"];
  children: ComponentChildren;
}

function Proof({ of: proof, documents, path, onSave, children }: ProofProps) {
  return (
    <Notice>
      <p>{proof ? t("run.proofReady") : count("run.proofWaits", documents)}</p>
      {proof && (
        <div class="actions">
          <button type="button" onClick={() => onSave(`${path}/files/${PROOF}`, "proof.pdf")}>
            {t("run.saveProof")}
          </button>
          {children}
        </div>
      )}
    </Notice>
  );
}

/** A button of a call that needs no more words; it says what went wrong. */
function Act({ onAct, primary = false, children }: { onAct: () => Promise<void>; primary?: boolean; children: ComponentChildren }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const act = async () => {
    setBusy(true);
    try {
      await onAct();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : t("error.unknown"));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class={primary ? "primary" : ""} disabled={isBusy} onClick={act}>
        {children}
      </button>
      {error !== null && <span role="alert">{error}</span>}
    </>
  );
}

function File({ of: file, name, path, onSave }: { of: RunFile; name: string; path: string; onSave: RunProps["onSave"] }) {
  return (
    <li class="between">
      <span>
        <b>{name}</b>
        {file.value !== undefined && ` · ${file.value}`}
        {file.sha256 ? (
          <span class="soft">
            {" · "}
            {count("batches.documents", file.documents)} · {count("batches.pages", file.pages)} · {count("batches.sheets", file.sheets)}
          </span>
        ) : (
          <span class="soft"> · {t("run.writing")}</span>
        )}
      </span>
      {file.sha256 && (
        <button type="button" class="quiet" aria-label={t("jobs.downloadThis", { id: name })} onClick={() => onSave(path, `${name}.pdf`)}>
          {t("jobs.download")}
        </button>
      )}
    </li>
  );
}

/** The choice of held documents. */
function Which() {
  const [which, choose] = useState("all");
  return (
    <>
      <Choice label={t("run.which")} name="which" onChange={choose} of={["all", "reason", "documents"].map((value) => [value, t(`run.which.${value}` as "run.which.all")])} />
      {which === "reason" && <Field label={t("run.reason")} hint={t("run.reasonHelp")} name="reason" required maxLength={400} />}
      {which === "documents" && <Field label={t("run.documents")} hint={t("run.documentsHelp")} name="documents" required pattern="\s*[0-9]+(\s*[,; ]\s*[0-9]+)*\s*" />}
    </>
  );
}

function Range({ files }: { files: number }) {
  const [unit, choose] = useState("documents");
  return (
    <>
      <Choice label={t("run.unit")} name="unit" onChange={choose} of={["documents", "sets", "sheets"].map((value) => [value, t(`run.unit.${value}` as "run.unit.sets")])} />
      {unit === "sheets" && <Field label={t("run.ofFile")} name="file" type="number" min={1} max={files} required defaultValue="1" />}
      <Field label={t("run.first")} name="first" type="number" min={1} required />
      <Field label={t("run.last")} name="last" type="number" min={1} required />
      <label class="check">
        <input type="checkbox" name="copy" />
        {t("run.copy")}
      </label>
    </>
  );
}

function Choice({ label, name, of, onChange }: { label: string; name: string; of: string[][]; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} onChange={(event) => onChange(event.currentTarget.value)}>
        {of.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Documents are counted from 1 on the page, and from 0 by the API. */
function readHeld(form: FormData): HeldDocuments {
  const which = form.get("which");
  if (which === "reason") return { reason: String(form.get("reason")).trim() };
  if (which === "documents") return { documents: (String(form.get("documents")).match(/[0-9]+/g) ?? []).map((each) => Number(each) - 1) };
  return {};
}

function readReprint(form: FormData): Reprint {
  const unit = String(form.get("unit")) as NonNullable<Reprint["unit"]>;
  const from = unit === "documents" ? 1 : 0;
  return {
    unit,
    first: Number(form.get("first")) - from,
    last: Number(form.get("last")) - from,
    ...(unit === "sheets" && { file: Number(form.get("file")) }),
    copy: form.has("copy"),
  };
}
