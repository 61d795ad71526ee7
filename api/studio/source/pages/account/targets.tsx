/** Webhooks: addresses, deliveries, and rotation of secrets. */

import { useEffect, useId, useState } from "preact/hooks";
import { ask, askJson } from "../../lib/api";
import { describe, useLoad } from "../../lib/load";
import { formatAgo, formatMoment, type Key, t } from "../../lib/messages";
import { usePolling } from "../../lib/poll";
import type { Delivery, Webhook } from "../../lib/types";
import { Badge, Empty, Field, FormDialog, Notice, Result, Secret, Wide } from "../../ui/parts";

const EVENTS = ["job.succeeded", "job.failed", "batch.finished"];

/** For each webhook how often it was tested, and why the last test was refused. */
type Tested = Record<string, { times: number; error: string | null }>;

type Asked = { for: "new" } | { for: "rotate" | "delete"; webhook: Webhook };

export function Webhooks() {
  const list = useLoad(async () => (await askJson<{ webhooks: Webhook[] }>("GET", "/v2/webhooks")).webhooks, []);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [tested, setTested] = useState<Tested>({});
  const test = async (webhook: Webhook) => {
    let error: string | null = null;
    try {
      await ask("POST", `/v2/webhooks/${webhook.id}/test`);
    } catch (failure) {
      error = describe(failure);
    }
    setTested((now) => ({ ...now, [webhook.id]: { times: (now[webhook.id]?.times ?? 0) + 1, error } }));
  };
  const close = () => setAsked(null);
  const done = (shown: string | null) => {
    setAsked(null);
    setSecret(shown);
    list.reload();
  };
  return (
    <section aria-labelledby="webhooks">
      <div class="head">
        <h2 id="webhooks">{t("webhooks.title")}</h2>
        <button type="button" onClick={() => setAsked({ for: "new" })}>
          {t("webhooks.add")}
        </button>
      </div>
      {secret !== null && (
        <Notice kind="good">
          <Secret label={t("webhooks.secret")} value={secret} />
        </Notice>
      )}
      <Result of={list}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title={t("webhooks.none")}>
              <p>{t("webhooks.noneHelp")}</p>
            </Empty>
          ) : (
            <ul class="stack">
              {webhooks.map((webhook) => (
                <li key={webhook.id} class="panel">
                  <div class="between">
                    <div>
                      <p class="mono break">{webhook.url}</p>
                      <p class="soft">
                        {webhook.events.map((event) => (
                          <Badge key={event}>{event}</Badge>
                        ))}{" "}
                        {webhook.disabled_at && <Badge kind="bad">{t("webhooks.disabled")}</Badge>}
                      </p>
                    </div>
                    <div class="actions">
                      <button type="button" class="quiet" onClick={() => test(webhook)}>
                        {t("webhooks.test")}
                      </button>
                      <button type="button" class="quiet" onClick={() => setAsked({ for: "rotate", webhook })}>
                        {t("webhooks.rotate")}
                      </button>
                      <button type="button" class="quiet danger" onClick={() => setAsked({ for: "delete", webhook })}>
                        {t("webhooks.delete")}
                      </button>
                    </div>
                  </div>
                  {tested[webhook.id]?.error && <Notice kind="error">{tested[webhook.id]?.error}</Notice>}
                  <Log of={webhook} tests={tested[webhook.id]?.times ?? 0} />
                </li>
              ))}
            </ul>
          )
        }
      </Result>
      {asked?.for === "new" && <AddWebhook onDone={done} onClose={close} />}
      {asked?.for === "rotate" && (
        <FormDialog
          title={t("webhooks.rotateTitle")}
          action={t("webhooks.rotate")}
          onClose={close}
          onSubmit={async () => done((await askJson<{ secret: string }>("POST", `/v2/webhooks/${asked.webhook.id}/rotate`)).secret)}
        >
          <p class="mono break">{asked.webhook.url}</p>
          <p>{t("webhooks.rotateHelp")}</p>
        </FormDialog>
      )}
      {asked?.for === "delete" && (
        <FormDialog
          title={t("webhooks.deleteTitle")}
          action={t("webhooks.delete")}
          danger
          onClose={close}
          onSubmit={async () => {
            await ask("DELETE", `/v2/webhooks/${asked.webhook.id}`);
            done(null);
          }}
        >
          <p class="mono break">{asked.webhook.url}</p>
          <p>{t("webhooks.deleteHelp")}</p>
        </FormDialog>
      )}
    </section>
  );
}

function AddWebhook({ onDone, onClose }: { onDone: (secret: string) => void; onClose: () => void }) {
  const id = useId();
  const submit = async (form: FormData) => {
    const fields = { url: String(form.get("url")).trim(), events: form.getAll("events").map(String) };
    onDone((await askJson<{ secret: string }>("POST", "/v2/webhooks", { json: fields })).secret);
  };
  return (
    <FormDialog title={t("webhooks.add")} action={t("webhooks.add")} onSubmit={submit} onClose={onClose}>
      <Field label={t("webhooks.url")} name="url" type="url" required maxLength={2048} placeholder="https://" autofocus />
      <fieldset>
        <legend>{t("webhooks.events")}</legend>
        {EVENTS.map((event) => (
          <div key={event} class="check">
            <input type="checkbox" id={`${id}-${event}`} name="events" value={event} defaultChecked />
            <label for={`${id}-${event}`} class="mono">
              {event}
            </label>
          </div>
        ))}
      </fieldset>
    </FormDialog>
  );
}

/** The log of a webhook; a test opens it. */
function Log({ of: webhook, tests }: { of: Webhook; tests: number }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (tests > 0) setOpen(true);
  }, [tests]);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("webhooks.log")}</summary>
      {open && <Deliveries of={webhook} tests={tests} />}
    </details>
  );
}

function Deliveries({ of: webhook, tests }: { of: Webhook; tests: number }) {
  const log = useLoad(
    async () => (await askJson<{ deliveries: Delivery[] }>("GET", `/v2/webhooks/${webhook.id}/deliveries?limit=50`)).deliveries,
    [webhook.id, tests],
  );
  usePolling(log.data?.some((each) => each.event === "webhook.test" && each.status === "pending") ?? false, log.reload);
  return (
    <Result of={log}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <p class="soft">{t("webhooks.logNone")}</p>
        ) : (
          <Wide label={t("webhooks.log")}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t("webhooks.event")}</th>
                  <th scope="col">{t("webhooks.state")}</th>
                  <th scope="col">{t("webhooks.answer")}</th>
                  <th scope="col" class="roomy">
                    {t("webhooks.when")}
                  </th>
                </tr>
              </thead>
              <tbody>
                {deliveries.map((each) => {
                  const last = each.attempts.at(-1);
                  return (
                    <tr key={each.id}>
                      <th scope="row" class="mono">
                        {each.event}
                      </th>
                      <td>
                        <Badge kind={each.status === "delivered" ? "good" : each.status === "failed" ? "bad" : "plain"}>{t(`delivery.${each.status}` as Key)}</Badge>
                      </td>
                      <td>{last ? (last.status ?? last.error) : <span class="soft">–</span>}</td>
                      <td class="roomy" title={formatMoment(each.created_at)}>
                        {formatAgo(each.created_at)}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </Wide>
        )
      }
    </Result>
  );
}
