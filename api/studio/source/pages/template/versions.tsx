/** The versions of a template: publishing, tags, and restoring. */

import { useState } from "preact/hooks";
import { ask, askJson } from "../../lib/api";
import { type Loaded, useLoad } from "../../lib/load";
import { count, formatAgo, formatMoment, t } from "../../lib/messages";
import type { Approval, VersionWithContent } from "../../lib/records";
import { mayChange } from "../../lib/rights";
import type { Account, Preview, Tag, Template, Version } from "../../lib/types";
import { linkTo } from "../../lib/router";
import { Badge, Empty, Field, FormDialog, Narrow, Notice, Result, Wide } from "../../ui/parts";
import { HEADER } from "./read";
import { TagHistory } from "./tag-history";

const SMALLEST = 0.1; // the scale of a page that is not shown
const MOST_LISTED = 20;
const MOST_WAITING = 10; // versions of which approvals are read

type Asked = { for: "publish" } | { for: "tag" | "live" | "approve"; version: Version } | { for: "untag"; tag: Tag };

export function Versions({
  account,
  template,
  etag,
  isFixed,
  onChange,
}: {
  account: Account;
  template: Template;
  etag: string;
  /** Whether nothing may be changed: a public template, or a session that may look only. */
  isFixed: boolean;
  onChange: () => void;
}) {
  const path = `/v2/templates/${encodeURIComponent(template.id)}`;
  const list = useLoad(async () => {
    const [versions, tags] = await Promise.all([
      askJson<{ versions: Version[]; has_more: boolean }>("GET", `${path}/versions`),
      askJson<{ tags: Tag[] }>("GET", `${path}/tags`),
    ]);
    return { ...versions, tags: tags.tags, approvals: await readApprovals(path, versions.versions, tags.tags) };
  }, [path]);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [told, setTold] = useState<string | null>(null);
  const close = () => setAsked(null);
  const done = (text: string) => {
    close();
    setTold(text);
    list.reload();
    onChange();
  };
  const newest = list.data?.versions[0];
  const isPublished = newest?.sha256 === template.sha256;
  return (
    <section aria-labelledby="versions">
      <div class="head">
        <h2 id="versions">{t("versions.title")}</h2>
        {!isFixed && (
          <button type="button" class="primary" disabled={isPublished} onClick={() => setAsked({ for: "publish" })}>
            {t("versions.publish")}
          </button>
        )}
      </div>
      {told !== null && <Notice kind="good">{told}</Notice>}
      <Result of={list}>
        {({ versions, has_more, tags, approvals }) =>
          versions.length === 0 ? (
            <Empty title={t("versions.none")}>
              <p>{t("versions.noneHelp")}</p>
            </Empty>
          ) : (
            <>
              <Wide label={t("versions.title")}>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">{t("versions.version")}</th>
                      <th scope="col">{t("versions.note")}</th>
                      <th scope="col" class="roomy">
                        {t("versions.published")}
                      </th>
                      <td />
                    </tr>
                  </thead>
                  <tbody>
                    {versions.map((each) => (
                      <tr key={each.version}>
                        <th scope="row">
                          <b>{each.version}</b> {each === newest && <Badge>latest</Badge>}
                          {each.sha256 === template.sha256 && <Badge kind="good">{t("versions.live")}</Badge>}
                          {tags
                            .filter((tag) => tag.version === each.version)
                            .map((tag) => {
                              const name = tag.guarded ? t("versions.guarded", { tag: tag.tag }) : tag.tag;
                              return isFixed || (tag.guarded && !mayChange(account, "account")) ? (
                                <Badge key={tag.tag} kind="accent">
                                  {name}
                                </Badge>
                              ) : (
                                <button
                                  key={tag.tag}
                                  type="button"
                                  class="badge accent"
                                  aria-label={tag.guarded ? `${name}: ${t("versions.free")}` : t("versions.untagThis", { tag: tag.tag })}
                                  onClick={() => setAsked({ for: "untag", tag })}
                                >
                                  {name}
                                  <span aria-hidden="true">{"\u00a0×"}</span>
                                </button>
                              );
                            })}
                          <Approved by={approvals.get(each.version)} isNext={tags.some((tag) => tag.guarded && tag.version < each.version)} />
                        </th>
                        <td class="note">
                          {each.message || <span class="soft">–</span>}
                          <Narrow>
                            {formatAgo(each.created_at)} · {each.created_by.name}
                          </Narrow>
                        </td>
                        <td class="roomy" title={formatMoment(each.created_at)}>
                          {formatAgo(each.created_at)} <span class="soft">· {each.created_by.name}</span>
                        </td>
                        <td class="row-actions">
                          <a class="button quiet" href={compareTo(template, each, versions)} aria-label={t("compare.this", { n: each.version })}>
                            {t("compare.open")}
                          </a>
                          {!isFixed && (
                            <>
                              {approvals.get(each.version)?.length === 0 && (
                                <button
                                  type="button"
                                  class="quiet"
                                  aria-label={t("versions.approveThis", { n: each.version })}
                                  onClick={() => setAsked({ for: "approve", version: each })}
                                >
                                  {t("versions.approve")}
                                </button>
                              )}
                              <button
                                type="button"
                                class="quiet"
                                aria-label={t("versions.tagThis", { n: each.version })}
                                onClick={() => setAsked({ for: "tag", version: each })}
                              >
                                {t("versions.tag")}
                              </button>
                              {each.sha256 !== template.sha256 && (
                                <button
                                  type="button"
                                  class="quiet"
                                  aria-label={t("versions.restoreThis", { n: each.version })}
                                  onClick={() => setAsked({ for: "live", version: each })}
                                >
                                  {t("versions.restore")}
                                </button>
                              )}
                            </>
                          )}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Wide>
              {has_more && <p class="soft">{t("versions.more")}</p>}
              {tags.map(({ tag, updated_at }) => (
                <TagHistory key={`${tag} ${updated_at}`} path={path} tag={tag} />
              ))}
            </>
          )
        }
      </Result>
      {asked?.for === "publish" && (
        <Publish path={path} template={template} etag={etag} onClose={close} onDone={(n) => done(t("versions.publishedNow", { n }))} />
      )}
      {asked?.for === "tag" && (
        <FormDialog
          title={t("versions.tagTitle", { n: asked.version.version })}
          action={t("versions.tag")}
          onClose={close}
          onSubmit={async (form) => {
            const tag = String(form.get("tag")).trim();
            const { version } = asked.version;
            await ask("PUT", `${path}/tags/${encodeURIComponent(tag)}`, { json: { version } });
            // Only where it is may it be guarded without an approval.
            if (form.has("guarded")) await ask("PUT", `${path}/tags/${encodeURIComponent(tag)}`, { json: { version, guarded: true } });
            done(t("versions.tagged", { tag, n: asked.version.version }));
          }}
        >
          <Field label={t("versions.tagName")} hint={t("versions.tagHint")} name="tag" required maxLength={64} placeholder="stable" autofocus />
          <div class="check">
            <input type="checkbox" id="guarded" name="guarded" aria-describedby="guarded-hint" />
            <label for="guarded">{t("versions.guard")}</label>
          </div>
          <p class="hint soft" id="guarded-hint">
            {t("versions.guardHint")}
          </p>
        </FormDialog>
      )}
      {asked?.for === "approve" && (
        <FormDialog
          title={t("versions.approveTitle", { n: asked.version.version })}
          action={t("versions.approve")}
          onClose={close}
          onSubmit={async () => {
            await ask("PUT", `${path}/versions/${asked.version.version}/approval`);
            done(t("versions.approvedNow", { n: asked.version.version }));
          }}
        >
          <p>{t("versions.approveHelp", { name: asked.version.created_by.name })}</p>
          {asked.version.cases_sha256 && <p>{t("versions.approveCases", { command: `pressroom template approve ${template.slug ?? template.id} ${asked.version.version}` })}</p>}
          <p>
            <a href={linkTo("templates", template.id, "compare", String(list.data?.tags.find((tag) => tag.guarded && tag.version < asked.version.version)?.version), String(asked.version.version))}>
              {t("versions.approveCompare")}
            </a>
          </p>
        </FormDialog>
      )}
      {asked?.for === "untag" && asked.tag.guarded && (
        <FormDialog
          title={t("versions.freeTitle", { tag: asked.tag.tag })}
          action={t("versions.free")}
          danger
          onClose={close}
          onSubmit={async () => {
            await ask("PUT", `${path}/tags/${encodeURIComponent(asked.tag.tag)}`, { json: { version: asked.tag.version, guarded: false } });
            done(t("versions.freed", { tag: asked.tag.tag }));
          }}
        >
          <p>{t("versions.freeHelp", { tag: asked.tag.tag })}</p>
        </FormDialog>
      )}
      {asked?.for === "untag" && !asked.tag.guarded && (
        <FormDialog
          title={t("versions.untagTitle", { tag: asked.tag.tag })}
          action={t("versions.untag")}
          danger
          onClose={close}
          onSubmit={async () => {
            await ask("DELETE", `${path}/tags/${encodeURIComponent(asked.tag.tag)}`);
            done(t("versions.untagged", { tag: asked.tag.tag }));
          }}
        >
          <p>{t("versions.untagHelp", { tag: asked.tag.tag })}</p>
        </FormDialog>
      )}
      {asked?.for === "live" && (
        <FormDialog
          title={t("versions.restoreTitle", { n: asked.version.version })}
          action={t("versions.restore")}
          onClose={close}
          onSubmit={async () => {
            const read = await askJson<{ content: string }>("GET", `${path}/versions/${asked.version.version}`);
            await ask("PUT", path, {
              body: read.content.replace(HEADER, ""),
              type: "application/xml; charset=utf-8",
              headers: { "If-Match": etag },
            });
            done(t("versions.restored", { n: asked.version.version }));
          }}
        >
          <p>{t("versions.restoreHelp")}</p>
        </FormDialog>
      )}
    </section>
  );
}

/** The approvals of the newest versions that a guarded tag may move to; none where no tag is guarded. */
async function readApprovals(path: string, versions: Version[], tags: Tag[]): Promise<Map<number, Approval[]>> {
  const guarded = tags.filter((tag) => tag.guarded);
  const waiting = guarded.length === 0 ? [] : versions.filter(({ version }) => guarded.some((tag) => tag.version !== version)).slice(0, MOST_WAITING);
  const read = await Promise.all(waiting.map(({ version }) => askJson<VersionWithContent>("GET", `${path}/versions/${version}`)));
  return new Map(read.map(({ version, approvals = [] }) => [version, approvals]));
}

/** Who approved a version, or that one after a guarded tag waits for it; nothing where no guarded tag may move to it. */
function Approved({ by, isNext }: { by: Approval[] | undefined; isNext: boolean }) {
  if (by === undefined) return null;
  if (by.length === 0) return isNext ? <Badge>{t("versions.waiting")}</Badge> : null;
  return <Badge kind="good">{t("versions.approved", { names: [...new Set(by.map((each) => each.approved_by.name))].join(", ") })}</Badge>;
}

/** Link to the comparison of a version with the live content, or of the live one with the version before it. */
function compareTo(template: Template, { version, sha256 }: Version, versions: Version[]): string {
  const isLive = sha256 === template.sha256;
  const before = versions.find((each) => each.version < version)?.version;
  const [old, now] = isLive && before !== undefined ? [String(before), String(version)] : [String(version), "live"];
  return linkTo("templates", template.id, "compare", old, now);
}

/** The findings of the live content; with errors among them, the question whether to publish it all the same. */
function Findings({ of: found }: { of: Loaded<Preview> }) {
  if (found.error !== null) return <Notice kind="error">{t("versions.unchecked", { reason: found.error })}</Notice>;
  if (found.data === null) return <Notice>{t("state.waiting")}</Notice>;
  const { errors, warnings } = found.data.findings;
  if (errors.length + warnings.length === 0) return <Notice kind="good">{t("editor.noFindings")}</Notice>;
  return (
    <Notice kind={errors.length > 0 ? "error" : "info"}>
      <p>{errors.length > 0 ? count("versions.errors", errors.length) : count("finding.warnings", warnings.length)}</p>
      <ul class="publish-findings">
        {[...errors, ...warnings].slice(0, MOST_LISTED).map((each, index) => (
          <li key={index} class={index < errors.length ? "bad" : ""}>
            {each.source && <span class="soft">{t("finding.place", { line: each.source.lineStart, column: each.source.columnStart })}</span>} {each.message}
          </li>
        ))}
      </ul>
      {errors.length > 0 && (
        <label>
          <input type="checkbox" name="anyway" required /> {t("versions.publishAnyway")}
        </label>
      )}
    </Notice>
  );
}

/** The publication of the live content as a version, after its findings are shown. */
function Publish({ path, template, etag, onDone, onClose }: { path: string; template: Template; etag: string; onDone: (version: number) => void; onClose: () => void }) {
  const found = useLoad(() => askJson<Preview>("POST", "/v2/preview", { json: { template: template.id, scale: SMALLEST } }), [template.id]);
  return (
    <FormDialog
      title={t("versions.publish")}
      action={t("versions.publish")}
      blocked={found.data === null && found.error === null}
      onClose={onClose}
      onSubmit={async (form) => {
        const message = String(form.get("message")).trim();
        const made = await askJson<Version>("POST", `${path}/versions`, { json: { message }, headers: { "If-Match": etag } });
        onDone(made.version);
      }}
    >
      <p>{t("versions.publishHelp")}</p>
      <Findings of={found} />
      <Field label={t("versions.note")} hint={t("versions.noteHint")} name="message" maxLength={2000} autofocus />
    </FormDialog>
  );
}
