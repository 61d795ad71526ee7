"""The fonts of one document: those it declares, found in its workspace, then those of the house."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Severity
from workers.engine.layout import fonts as house_fonts
from workers.engine.layout.context import Fonts, Typeface
from workers.engine.layout.fonts.facts import FontRefusedError, Span
from workers.engine.layout.fonts.matching import Wanted
from workers.engine.layout.fonts.sets import SETS, Declared, FontSet, Program
from workers.engine.ports import FontFile, Resources
from workers.engine.syntax.suggestions import nearest
from workers.engine.tree.nodes import DeclaredFont
from workers.engine.tree.styles import TextStyle

MAX_FONTS: Final = 64  # of one document
MAX_BYTES: Final = 64_000_000  # of their files, rebuilt


class HouseFonts:
    """The fonts that come with the product (layout/fonts/)."""

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Typeface, str]]:
        """Cut `text` into runs of one face each."""
        return house_fonts.split_by_face(
            style.families, style.weight, style.is_italic, text, style.lang
        )

    def find(self, style: TextStyle) -> Typeface:
        """Return the face of a style's first family."""
        return house_fonts.find_face(style.families, style.weight, style.is_italic)

    def find_missing(self, text: str) -> str:
        """Return the characters that no face of the house has."""
        return house_fonts.find_missing(text)


class DocumentFonts:
    """The fonts that a document declares, then those of the house for what they lack."""

    def __init__(self, fonts: FontSet) -> None:
        self._fonts = fonts

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Typeface, str]]:
        """Cut `text` into runs of one face each."""
        try:
            return self._fonts.split(style.families, _wanted(style), text, style.lang)
        except FontRefusedError as error:
            raise _to_authoring_error(error) from error

    def find(self, style: TextStyle) -> Typeface:
        """Return the face of a style's first family."""
        try:
            return self._fonts.find(style.families, _wanted(style))
        except FontRefusedError as error:
            raise _to_authoring_error(error) from error

    def find_missing(self, text: str) -> str:
        """Return the characters that no face has, of the document or of the house."""
        try:
            return self._fonts.find_missing(text)
        except FontRefusedError as error:
            raise _to_authoring_error(error) from error


def _to_authoring_error(error: FontRefusedError) -> AuthoringError:
    """Return the error of a variable font that has no instance for what a text asks for."""
    return AuthoringError((Diagnostic(Severity.ERROR, "font-refused", str(error)),))


def find_fonts(fonts: Sequence[DeclaredFont], resources: Resources, findings: Findings) -> Fonts:
    """Return the fonts of a document. What is wrong with one is reported at its declaration.

    Those that cannot be used are left out, so that a validation goes on; a render stops.
    """
    if not fonts:
        return HouseFonts()
    if len(fonts) > MAX_FONTS:
        findings.error(
            "too-many-fonts",
            f"The document declares {len(fonts)} fonts; at most {MAX_FONTS} are used",
            fonts[MAX_FONTS].source.place,
        )
        fonts = fonts[:MAX_FONTS]
    files = _find_files(fonts, resources, findings)
    declared = {
        _declare(font, files[font.name]): (font, files[font.name])
        for font in fonts
        if font.name in files
    }
    kept = SETS.find(tuple(declared))
    return DocumentFonts(kept or SETS.make(_load(declared, findings)))


def _wanted(style: TextStyle) -> Wanted:
    return Wanted(style.weight, style.stretch, style.is_italic)


def _find_files(
    fonts: Iterable[DeclaredFont], resources: Resources, findings: Findings
) -> dict[str, FontFile]:
    """Return the files by name, each looked for once; a name without one is an error."""
    files: dict[str, FontFile | None] = {}
    for font in fonts:
        if font.name not in files:
            files[font.name] = resources.find_font(font.name)
        if files[font.name] is None:
            near = nearest(font.name, resources.list_fonts()) if findings.lists_errors else ""
            findings.error(
                "font-not-found",
                f'The workspace has no font "{font.name}"{near}',
                font.source.place,
            )
    return {name: file for name, file in files.items() if file is not None}


def _declare(font: DeclaredFont, file: FontFile) -> Declared:
    return Declared(
        font.family,
        file.sha256,
        font.index,
        None if font.weight is None else Span(*map(float, font.weight)),
        None if font.stretch is None else Span(*font.stretch),
        font.is_italic,
        font.settings,
    )


def _load(
    declared: dict[Declared, tuple[DeclaredFont, FontFile]], findings: Findings
) -> dict[Declared, Program]:
    rebuilt: dict[str, tuple[Program, ...]] = {}
    loaded: dict[Declared, Program] = {}
    for key, (font, file) in declared.items():
        try:
            program = SETS.load(key, file.read, rebuilt)
        except FontRefusedError as error:
            findings.error("font-refused", f'Font "{font.name}": {error}', font.source.place)
            continue
        _check_axes(font, program, findings)
        loaded[key] = program
        if sum({id(each): len(each.data) for each in loaded.values()}.values()) > MAX_BYTES:
            findings.error(
                "fonts-too-large",
                f"The fonts of the document are larger than {MAX_BYTES // 1_000_000} MB together",
                font.source.place,
            )
            break
    return loaded


def _check_axes(font: DeclaredFont, program: Program, findings: Findings) -> None:
    """Warn of values for axes that the font does not have."""
    tags = [axis.tag for axis in program.facts.axes]
    unknown = [tag for tag, _ in font.settings if tag not in tags]
    if unknown:
        has = f"its axes are {', '.join(tags)}" if tags else "it is not variable"
        findings.warn(
            "no-effect",
            f'`font-variation-settings` names {", ".join(unknown)}, which the font "{font.name}" '
            f"does not have: {has}",
            font.source.place,
        )
