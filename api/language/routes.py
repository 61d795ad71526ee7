"""GET /docs/language: the reference of the document language, LANGUAGE.md by chapter and element, with its search."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from importlib.resources import files
from typing import Final

import mistune
from flask import Response

from api.http import mark_code
from api.operations.model import OperationResponse, Routes, get
from api.static_files import StaticFile, load_folder, make_file, write_file
from shared.errors import ServiceError

PATH: Final = "/docs/language"
_HEADING: Final = re.compile(r"^(#{1,3}) (.+)\n(?s:(.*?))(?=^#{1,3} |\Z)", re.MULTILINE)
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ANCHOR: Final = re.compile(r'<a id="([^"]+)">')
_ROW: Final = re.compile(r'^\| <a id="([^"]+)"></a>`([^`]+)`[^|]*\|(.*)\|$', re.MULTILINE)
_ERROR: Final = re.compile(r"^- (error|warning) `([a-z0-9-]+)`: (.+)$", re.MULTILINE)
_MARKUP: Final = re.compile(r"<[^>]+>|[`*|]|\]\([^)]*\)|\[|^-+$|\\", re.MULTILINE)
_ELEMENTS: Final = "elements"
_ELEMENT_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of the reference with its text in Markdown; an element's has level 3."""

    title: str
    level: int
    text: str

    @property
    def anchor(self) -> str:
        """Its anchor as GitHub writes it; of several elements it is the first one's."""
        anchors = _ANCHOR.match(self.text.lstrip())
        return (
            anchors[1] if anchors else re.sub(r"[^\w -]", "", self.title.lower()).replace(" ", "-")
        )


@dataclass(frozen=True, slots=True)
class Chapter:
    """A page of the reference: a chapter with its sections, or an element."""

    sections: tuple[Section, ...]

    @property
    def name(self) -> str:
        """Its name in the address."""
        return self.sections[0].anchor

    @property
    def title(self) -> str:
        """Its title, in Markdown."""
        return self.sections[0].title

    @property
    def is_element(self) -> bool:
        """Whether it describes an element."""
        return self.sections[0].level == _ELEMENT_LEVEL


class Reference:
    """The pages of a language reference, as HTML."""

    def __init__(self, markdown: str) -> None:
        self.pages: Final = {page.name: page for page in _split_pages(_split_sections(markdown))}
        self._pages_of_anchors: Final = {
            anchor: page.name
            for page in self.pages.values()
            for section in page.sections
            for anchor in (section.anchor, *_ANCHOR.findall(section.text))
        }

    def find_address(self, anchor: str) -> str | None:
        """Return the address of a chapter, element, attribute or property; None if there is none."""
        name = self._pages_of_anchors.get(anchor)
        if name is None or name == anchor:
            return name and f"{PATH}/{name}"
        return f"{PATH}/{name}#{anchor}"

    def write_page(self, name: str) -> str:
        """Return a page as HTML.

        Raises:
            KeyError: There is no page of that name.
        """
        page = self.pages[name]
        convert = mistune.create_markdown(renderer=_Renderer(self, escape=False), plugins=["table"])
        body = "".join(str(convert(_write_section(page, section))) for section in page.sections)
        chapters = [other for other in self.pages.values() if not other.is_element]
        elements = sorted(
            (other for other in self.pages.values() if other.is_element), key=lambda one: one.name
        )
        return _PAGE_HTML.format(
            title=escape(_plain(page.title)),
            body=body,
            chapters="".join(_write_entry(other, name) for other in chapters),
            elements="".join(_write_entry(other, name) for other in elements),
            path=PATH,
        )

    def write_index(self) -> str:
        """Return the index of the search: a list of [title, address, text] as JSON."""
        return json.dumps([*self._find_entries()], ensure_ascii=False, separators=(",", ":"))

    def _find_entries(self) -> Iterator[tuple[str, str, str]]:
        for page in self.pages.values():
            for section in page.sections:
                address = self.find_address(section.anchor) or ""
                text = _plain(_FENCE.sub("", _ERROR.sub("", _ROW.sub("", section.text))))
                yield _plain(section.title), address, text
                owner = _plain(section.title)
                for anchor, name, rest in _ROW.findall(section.text):
                    yield f"{name} · {owner}", self.find_address(anchor) or "", _plain(rest)
                for _, code, message in _ERROR.findall(section.text):
                    yield f"{code} · {owner}", address, _plain(message)


class _Renderer(mistune.HTMLRenderer):
    """HTML whose links lead to the page of their anchor."""

    def __init__(self, reference: Reference, *, escape: bool) -> None:
        super().__init__(escape=escape)
        self._reference = reference

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("#"):
            url = self._reference.find_address(url[1:]) or url
        elif ":" not in url:
            url = f"{PATH}/files/{url}"
        return super().link(text, url, title)

    def block_html(self, html: str) -> str:
        return html.replace('src="pictures/', f'src="{PATH}/files/')

    def table(self, text: str) -> str:  # scrolls by itself where the screen is narrow
        return f'<div class="wide"><table>{text}</table></div>\n'


def _split_sections(markdown: str) -> Iterator[Section]:
    # What looks like a heading in a block of code is none.
    hidden = _FENCE.sub(lambda block: re.sub(r"^#", "\0#", block[0], flags=re.MULTILINE), markdown)
    for found in _HEADING.finditer(hidden):
        yield Section(found[2], len(found[1]), found[3].replace("\0", ""))


def _split_pages(sections: Iterator[Section]) -> Iterator[Chapter]:
    chapter: list[Section] = []
    for section in sections:
        in_elements = bool(chapter) and chapter[0].anchor == _ELEMENTS
        if section.level < _ELEMENT_LEVEL:
            if chapter:
                yield Chapter(tuple(chapter))
            chapter = [section]
        elif in_elements:
            yield Chapter((section,))
        else:
            chapter.append(section)
    if chapter:
        yield Chapter(tuple(chapter))


def _write_section(page: Chapter, section: Section) -> str:
    level = 1 if section is page.sections[0] else 2
    text = section.text.replace(f'<a id="{section.anchor}"></a>', "", 1)
    return f'<h{level} id="{section.anchor}">{mark_code(section.title)}</h{level}>\n\n{text}'


def _write_entry(page: Chapter, current: str) -> str:
    mark = ' aria-current="page"' if page.name == current else ""
    return f'<li><a href="{PATH}/{page.name}"{mark}>{escape(_plain(page.title))}</a></li>'


def _plain(markdown: str) -> str:
    return " ".join(_MARKUP.sub("", markdown).split())


_PAGE_HTML: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – Pressroom language</title>
<link rel="stylesheet" href="{path}/files/language.css"><script src="{path}/files/search.js" defer></script>
</head>
<body>
<header><a class="home" href="{path}">The document language</a>
<search><label for="search">Search</label><input id="search" type="search" autocomplete="off"
 aria-controls="found" placeholder="element, attribute, error …"></search><a href="/docs">Interface</a>
<ol id="found" aria-live="polite" hidden></ol></header>
<nav aria-label="Chapters and elements"><details open><summary>Chapters</summary><ul>{chapters}</ul></details>
<details open><summary>Elements</summary><ul class="names">{elements}</ul></details></nav>
<main>{body}</main>
</body>
</html>
"""


_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


_PAGE: Final = OperationResponse("The page.", {"text/html": {"type": "string"}})


class LanguageRoutes(Routes):
    """The views."""

    tag = "Operation"

    @get(PATH, {200: _PAGE}, name="openLanguage")
    def read_start(self) -> Response:
        """Open the reference of the document language.

        The introduction, with a search and links to every chapter and element.
        """
        return write_file(_make_page(next(iter(_read_reference().pages))), _HEADERS)

    @get(
        f"{PATH}/{{name}}",
        {
            200: _PAGE,
            302: OperationResponse(
                "To the attribute.", headers={"Location": "The page with the attribute."}
            ),
        },
        errors={404: ()},
        name="readLanguage",
    )
    def read_page(self, name: str) -> Response:
        """Read a page of the document language.

        A chapter or an element, such as `td`; an attribute, such as `td.rowspan`, redirects to its place.
        """
        reference = _read_reference()
        if name in reference.pages:
            return write_file(_make_page(name), _HEADERS)
        if address := reference.find_address(name):
            return Response(status=302, headers={**_HEADERS, "Location": address})
        message = f"The language has no chapter, element or attribute {name[:100]!r}."
        raise ServiceError(404, message)

    @get(
        f"{PATH}/files/{{name}}",
        {
            200: OperationResponse(
                "The file.",
                {
                    media: {"type": "string"}
                    for media in (
                        "image/png",
                        "text/css",
                        "text/javascript",
                        "application/json",
                        "application/xml",
                    )
                },
            )
        },
        errors={404: ()},
        name="readLanguageFile",
    )
    def read_file(self, name: str) -> Response:
        """Read a file of the document language.

        A picture, the style sheet, the search with its index, or the RELAX NG schema.
        """
        file = _load_files().get(name)
        if file is None:
            message = f"The pages of the language have no file {name[:100]!r}."
            raise ServiceError(404, message)
        return write_file(file, _HEADERS)


@lru_cache(maxsize=1)
def _read_reference() -> Reference:
    return Reference(files("workers").joinpath("engine/LANGUAGE.md").read_text("utf-8"))


@cache  # as many as there are pages: 0.6 MB
def _make_page(name: str) -> StaticFile:
    return make_file("page.html", _read_reference().write_page(name).encode())


@lru_cache(maxsize=1)
def _load_files() -> Mapping[str, StaticFile]:
    return {
        **load_folder("api.language", "static"),
        **load_folder("workers", "engine/pictures"),
        "search.json": make_file("search.json", _read_reference().write_index().encode()),
        "pressroom.rng": make_file(
            "pressroom.rng", files("workers").joinpath("engine/pressroom.rng").read_bytes()
        ),
    }
