/** Where the account sends to: webhooks and destinations, with their tests and deliveries. */

import { useEffect, useState } from "preact/hooks";
import { ask, askJson } from "../../lib/api";
import { describe, useLoad } from "../../lib/load";
import { formatAgo, t } from "../../lib/messages";
import { usePolling } from "../../lib/poll";
import type { Delivery, Destination, Webhook } from "../../lib/types";
import { Badge, Empty, FormDialog, Notice, Result, Secret } from "../../ui/parts";
import { DeliveryTable } from "./deliveries";
import { AddDestination, AddWebhook } from "./target-forms";

type Kind = "webhooks" | "destinations";
type Target = Webhook | Destination;

/** For each target how often it was tested, and why the last test was refused. */
type Tested = Record<string, { times: number; error: string | null }>;

type Asked = { for: "new" } | { for: "rotate" | "delete"; target: Target };

export function Targets({ kind }: { kind: Kind }) {
  const path = `/v2/${kind}`;
  const list = useLoad(async () => (await askJson<Record<Kind, Target[]>>("GET", path))[kind], [kind]);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [tested, setTested] = useState<Tested>({});
  const test = async ({ id }: Target) => {
    let error: string | null = null;
    try {
      await ask("POST", `${path}/${id}/test`);
    } catch (failure) {
      error = describe(failure);
    }
    setTested((now) => ({ ...now, [id]: { times: (now[id]?.times ?? 0) + 1, error } }));
  };
  const close = () => setAsked(null);
  const done = (shown: string | null) => {
    setAsked(null);
    setSecret(shown);
    list.reload();
  };
  const Add = kind === "webhooks" ? AddWebhook : AddDestination;
  return (
    <section aria-labelledby={kind}>
      <div class="head">
        <h2 id={kind}>{t(`${kind}.title`)}</h2>
        <button type="button" onClick={() => setAsked({ for: "new" })}>
          {t(`${kind}.add`)}
        </button>
      </div>
      {secret !== null && (
        <Notice kind="good">
          <Secret label={t("webhooks.secret")} value={secret} />
        </Notice>
      )}
      <Result of={list}>
        {(targets) =>
          targets.length === 0 ? (
            <Empty title={t(`${kind}.none`)}>
              <p>{t(`${kind}.noneHelp`)}</p>
            </Empty>
          ) : (
            <ul class="stack">
              {targets.map((target) => (
                <li key={target.id} class="panel">
                  <div class="between">
                    <div>
                      <p class="mono break">{target.url}</p>
                      <p class="soft">
                        <About target={target} />
                      </p>
                    </div>
                    <div class="actions">
                      <button type="button" class="quiet" onClick={() => test(target)}>
                        {t("targets.test")}
                      </button>
                      {"events" in target && (
                        <button type="button" class="quiet" onClick={() => setAsked({ for: "rotate", target })}>
                          {t("webhooks.rotate")}
                        </button>
                      )}
                      <button type="button" class="quiet danger" onClick={() => setAsked({ for: "delete", target })}>
                        {t("targets.delete")}
                      </button>
                    </div>
                  </div>
                  {tested[target.id]?.error && <Notice kind="error">{tested[target.id]?.error}</Notice>}
                  <Log kind={kind} id={target.id} tests={tested[target.id]?.times ?? 0} />
                </li>
              ))}
            </ul>
          )
        }
      </Result>
      {asked?.for === "new" && <Add onDone={done} onClose={close} />}
      {asked?.for === "rotate" && (
        <FormDialog
          title={t("webhooks.rotateTitle")}
          action={t("webhooks.rotate")}
          onClose={close}
          onSubmit={async () => done((await askJson<{ secret: string }>("POST", `${path}/${asked.target.id}/rotate`)).secret)}
        >
          <p class="mono break">{asked.target.url}</p>
          <p>{t("webhooks.rotateHelp")}</p>
        </FormDialog>
      )}
      {asked?.for === "delete" && (
        <FormDialog
          title={t(`${kind}.deleteTitle`)}
          action={t("targets.delete")}
          danger
          onClose={close}
          onSubmit={async () => {
            await ask("DELETE", `${path}/${asked.target.id}`);
            done(null);
          }}
        >
          <p class="mono break">{asked.target.url}</p>
          <p>{t("targets.deleteHelp")}</p>
        </FormDialog>
      )}
    </section>
  );
}

/** What a webhook is told, or what a destination has of a PDF, and under which names. */
function About({ target }: { target: Target }) {
  if ("events" in target)
    return (
      <>
        {target.events.map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}{" "}
        {target.disabled_at && <Badge kind="bad">{t("webhooks.disabled")}</Badge>}
      </>
    );
  return (
    <>
      <Badge>{t(`destinations.kind.${target.kind}`)}</Badge>
      {target.file === "peppol" && <Badge>{t("destinations.peppol")}</Badge>} <span class="mono break">{target.mail?.recipient ?? target.name}</span>
    </>
  );
}

/** How the newest deliveries of a target went, and their log, which a test opens. */
function Log({ kind, id, tests }: { kind: Kind; id: string; tests: number }) {
  const [open, setOpen] = useState(false);
  const log = useLoad(() => readDeliveries(kind, id), [id, tests]);
  useEffect(() => {
    if (tests > 0) setOpen(true);
  }, [tests]);
  usePolling(log.data?.some((each) => each.status === "pending" && each.attempts.length === 0) ?? false, log.reload);
  const failed = log.data?.filter((each) => each.status === "failed").length ?? 0;
  const last = log.data?.find((each) => each.status === "delivered");
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {t("targets.log")} {failed > 0 && <Badge kind="bad">{t("targets.undelivered", { n: failed })}</Badge>} {last && <Badge kind="good">{t("targets.last", { ago: formatAgo(last.attempts.at(-1)?.at ?? last.created_at) })}</Badge>}
      </summary>
      {open && (
        <Result of={log}>
          {(deliveries) => (deliveries.length === 0 ? <p class="soft">{t("targets.logNone")}</p> : <DeliveryTable of={deliveries} onAgain={log.reload} />)}
        </Result>
      )}
    </details>
  );
}

/** The newest deliveries of a target; of a destination they are found among the newest of the account, and those that failed. */
async function readDeliveries(kind: Kind, id: string): Promise<Delivery[]> {
  const read = async (path: string) => (await askJson<{ deliveries: Delivery[] }>("GET", path)).deliveries;
  if (kind === "webhooks") return read(`/v2/webhooks/${id}/deliveries?limit=50`);
  const [newest, failed] = await Promise.all([read("/v2/deliveries?limit=200"), read("/v2/deliveries?limit=200&status=failed")]);
  const known = new Set(newest.map((each) => each.id));
  return [...newest, ...failed.filter((each) => !known.has(each.id))].filter((each) => each.target_id === id);
}
