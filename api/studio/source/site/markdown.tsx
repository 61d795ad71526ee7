/** Markdown as elements of the page: nothing is written as markup. */

import { highlightCode, type Highlighter, tagHighlighter, tags } from "@lezer/highlight";
import { parser as json } from "@lezer/json";
import { parser as xml } from "@lezer/xml";
import { marked, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t } from "../lib/messages";
import { Wide } from "../ui/parts";
import { type Page, type Part, plain, resolve, type Site } from "./pages";

interface Place {
  site: Site;
  page: Page;
}

const PARSERS = { xml, json, html: xml } as const;
const COLOURS: Highlighter = tagHighlighter([
  { tag: [tags.tagName, tags.propertyName], class: "tag" },
  { tag: [tags.attributeValue, tags.string], class: "string" },
  { tag: [tags.number, tags.bool, tags.null], class: "value" },
  { tag: tags.comment, class: "soft" },
]);
const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', nbsp: "\u00a0" };

/** The parts of a page, each below its heading. */
export function Parts({ of, ...place }: Place & { of: Part[] }) {
  const top = of[0]?.level ?? 1;
  return (
    <>
      {of.map((part) => {
        const Heading = `h${Math.min(part.level - top + 1, 6)}` as "h1";
        return (
          <section key={part.anchor} aria-labelledby={part.anchor}>
            <Heading id={part.anchor}>
              <Inline of={marked.Lexer.lexInline(part.title)} {...place} />
              {part !== of[0] && (
                <a class="anchor" href={`#${part.anchor}`} aria-hidden="true" tabIndex={-1}>
                  #
                </a>
              )}
            </Heading>
            <Blocks of={marked.lexer(part.text)} {...place} />
          </section>
        );
      })}
    </>
  );
}

function Blocks({ of, ...place }: Place & { of: Token[] }) {
  return <>{of.map((token, at) => <Block key={at} of={token} {...place} />)}</>;
}

function Block({ of, ...place }: Place & { of: Token }) {
  switch (of.type) {
    case "paragraph":
      return (
        <p>
          <Inline of={of.tokens ?? []} {...place} />
        </p>
      );
    case "text":
      return <Inline of={of.tokens ?? [of]} {...place} />;
    case "code":
      return <Code of={of as Tokens.Code} />;
    case "list":
      return <List of={of as Tokens.List} {...place} />;
    case "table":
      return <Table of={of as Tokens.Table} {...place} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks of={of.tokens ?? []} {...place} />
        </blockquote>
      );
    case "html":
      return (
        <div class="pictures">
          <Markup of={of.raw} {...place} />
        </div>
      );
    case "hr":
      return <hr />;
    default:
      return null;
  }
}

function List({ of, ...place }: Place & { of: Tokens.List }) {
  const items = of.items.map((item, at) => (
    <li key={at}>
      <Blocks of={item.tokens} {...place} />
    </li>
  ));
  return of.ordered ? <ol start={Number(of.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ of, ...place }: Place & { of: Tokens.Table }) {
  const label = plain(of.header.map(({ text }) => text).join(", "));
  return (
    <Wide label={label}>
      <table>
        <thead>
          <tr>
            {of.header.map((cell, at) =>
              cell.text ? (
                <th key={at} scope="col">
                  <Inline of={cell.tokens} {...place} />
                </th>
              ) : (
                <td key={at} />
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {of.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} class={of.align[column] === "right" ? "number" : undefined}>
                  <Inline of={cell.tokens} {...place} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Code({ of }: { of: Tokens.Code }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(of.text);
    setCopied(true);
  };
  return (
    <div class="code">
      <pre tabIndex={0}>
        <code>{colour(of.text, of.lang ?? "")}</code>
      </pre>
      <button type="button" class="quiet" onClick={copy}>
        {isCopied ? t("copied") : t("copy")}
      </button>
    </div>
  );
}

function colour(text: string, language: string): ComponentChildren {
  const parser = PARSERS[language as keyof typeof PARSERS];
  if (!parser) return text;
  const parts: ComponentChildren[] = [];
  const put = (code: string, classes: string) => parts.push(classes ? <span class={classes}>{code}</span> : code);
  highlightCode(text, parser.parse(text), COLOURS, put, () => parts.push("\n"));
  return parts;
}

function Inline({ of, ...place }: Place & { of: Token[] }) {
  return <>{of.map((token, at) => <Piece key={at} of={token} {...place} />)}</>;
}

function Piece({ of, ...place }: Place & { of: Token }) {
  const inner = "tokens" in of && of.tokens ? <Inline of={of.tokens} {...place} /> : null;
  switch (of.type) {
    case "strong":
      return <strong>{inner}</strong>;
    case "em":
      return <em>{inner}</em>;
    case "del":
      return <del>{inner}</del>;
    case "codespan":
      return <code>{of.text}</code>;
    case "br":
      return <br />;
    case "link": {
      const address = resolve(place.site, place.page, of.href);
      return address === null ? inner : <a href={address}>{inner}</a>;
    }
    case "image":
      return <img src={resolve(place.site, place.page, of.href) ?? undefined} alt={of.text} loading="lazy" />;
    case "html":
      return <Markup of={of.raw} {...place} />;
    default:
      return inner ?? decode(String(("text" in of && of.text) || ""));
  }
}

/** The few elements of HTML that the pages use. */
function Markup({ of, site, page }: Place & { of: string }) {
  return (
    <>
      {[...of.matchAll(/<(img|a|br)\b([^>]*)>/g)].map(([, name, rest = ""], at) => {
        const { id, src, width, alt } = Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
        if (name === "br") return <br key={at} />;
        if (name === "a") return id ? <span key={at} id={id} /> : null;
        return <img key={at} src={resolve(site, page, src ?? "") ?? undefined} width={width} alt={decode(alt ?? "")} loading="lazy" />;
      })}
    </>
  );
}

function decode(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
