/** The views by address; views with large libraries are loaded on demand. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../lib/messages";
import { linkTo } from "../lib/router";
import type { PageProps } from "../lib/types";
import { Loading, Notice } from "../ui/parts";
import { homeOf } from "../ui/shell";
import { TemplatePage } from "./template";
import { Templates } from "./templates";

const EDITOR = later(async () => (await import("./editor")).EditorPage);
const NEW_BATCH = later(async () => (await import("./new-batch")).NewBatch);
const COMPARE = later(async () => (await import("./compare")).Compare);
const IMAGES = later(async () => (await import("./files")).Images);
const FONTS = later(async () => (await import("./files")).Fonts);
const JOBS = later(async () => (await import("./jobs")).Jobs);
const BATCHES = later(async () => (await import("./batches")).Batches);
const PLANS = later(async () => (await import("./plans")).Plans);
const ACCOUNT = later(async () => (await import("./account")).AccountPage);

export function Page(props: PageProps) {
  switch (props.route[0] ?? homeOf(props.account)) {
    case "templates":
      if (props.route[1] === undefined) return <Templates {...props} />;
      if (props.route[2] === "edit") return <EDITOR key={props.route[1]} {...props} />;
      if (props.route[2] === "batch") return <NEW_BATCH key={props.route[1]} {...props} />;
      if (props.route[2] === "compare") return <COMPARE key={props.route[1]} {...props} />;
      return <TemplatePage key={props.route[1]} {...props} />;
    case "images":
      return <IMAGES {...props} />;
    case "fonts":
      return <FONTS {...props} />;
    case "jobs":
      return <JOBS {...props} />;
    case "batches":
      return props.route[1] === "plans" ? <PLANS {...props} /> : <BATCHES {...props} />;
    case "account":
      return <ACCOUNT {...props} />;
    default:
      return (
        <>
          <h1>{t("nothing.title")}</h1>
          <p>
            <a href={linkTo(homeOf(props.account))}>{t("nothing.back")}</a>
          </p>
        </>
      );
  }
}

/** Create a view that is loaded when it is first shown. */
function later(load: () => Promise<ComponentType<PageProps>>): ComponentType<PageProps> {
  let loaded: ComponentType<PageProps> | null = null;
  return function Later(props: PageProps) {
    const [, show] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (part) => {
          loaded = part;
          show((n) => n + 1);
        },
        () => setFailed(true),
      );
    }, []);
    const Part = loaded;
    if (Part) return <Part {...props} />;
    return failed ? <Notice kind="error">{t("error.part")}</Notice> : <Loading />;
  };
}
