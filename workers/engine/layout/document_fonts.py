"""The fonts of one document: its declared workspace fonts first, then the bundled ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from workers.engine.diagnostics import AuthoringError, Diagnostic, Findings, Severity
from workers.engine.fonts import (
    BUNDLED,
    FONT_SETS,
    DescriptorRange,
    Face,
    FontFaceDeclaration,
    FontProgram,
    FontRefusedError,
    FontRequest,
    FontSet,
)
from workers.engine.layout.context import Fonts
from workers.engine.ports import FontFile, Resources
from workers.engine.syntax.suggestions import suggest_if_listed
from workers.engine.tree.document import DeclaredFont
from workers.engine.tree.memo import TemplateMemo
from workers.engine.tree.styles.computed import TextStyle

MAX_FONTS: Final = 64  # of one document
MAX_BYTES: Final = 64_000_000  # of their rebuilt files


class DocumentFonts:
    """The fonts declared by a document, none by default, with the bundled ones as fallback."""

    def __init__(self, fonts: FontSet = BUNDLED) -> None:
        self._fonts = fonts

    def split(self, style: TextStyle, text: str) -> Sequence[tuple[Face, str]]:
        """Split `text` into runs of one face each."""
        try:
            return self._fonts.split(style.families, _wanted(style), text, style.lang)
        except FontRefusedError as error:
            raise _to_authoring_error(error) from error

    def find(self, style: TextStyle) -> Face:
        """Return the face of a style's first family."""
        try:
            return self._fonts.find(style.families, _wanted(style))
        except FontRefusedError as error:
            raise _to_authoring_error(error) from error

    def find_missing(self, text: str) -> str:
        """Return the characters that no face covers, declared or bundled."""
        try:
            return self._fonts.find_missing(text)
        except FontRefusedError as error:
            raise _to_authoring_error(error) from error

    def find_memo(self, memo: TemplateMemo) -> TemplateMemo:
        """Return a memo that is freed with the fonts: one of an account may be replaced by another."""
        if self._fonts is BUNDLED:
            return memo
        known: TemplateMemo = self._fonts.memos.setdefault(memo, TemplateMemo())
        return known


def _to_authoring_error(error: FontRefusedError) -> AuthoringError:
    """Return the authoring error for a variable font that cannot be instantiated."""
    return AuthoringError((Diagnostic(Severity.ERROR, "font-refused", str(error)),))


def find_fonts(fonts: Sequence[DeclaredFont], resources: Resources, findings: Findings) -> Fonts:
    """Return the fonts of a document, and report errors at the declarations.

    Unusable fonts are left out, so that a validation continues; a render stops.
    """
    if not fonts:
        return DocumentFonts()
    if len(fonts) > MAX_FONTS:
        findings.error(
            "too-many-fonts",
            f"The document declares {len(fonts)} fonts; at most {MAX_FONTS} are used",
            fonts[MAX_FONTS].source.location,
        )
        fonts = fonts[:MAX_FONTS]
    files = _find_files(fonts, resources, findings)
    declared = {
        _declare(font, files[font.name]): (font, files[font.name])
        for font in fonts
        if font.name in files
    }
    kept = FONT_SETS.find(tuple(declared))
    return DocumentFonts(kept or FONT_SETS.make(_load(declared, findings)))


def _wanted(style: TextStyle) -> FontRequest:
    return FontRequest(style.weight, style.stretch, style.is_italic)


def _find_files(
    fonts: Iterable[DeclaredFont], resources: Resources, findings: Findings
) -> dict[str, FontFile]:
    """Return the font files by name, each looked up once; a name without a file is an error."""
    files: dict[str, FontFile | None] = {}
    for font in fonts:
        if font.name not in files:
            files[font.name] = resources.find_font(font.name)
        if files[font.name] is None:
            near = suggest_if_listed(findings, font.name, resources.list_fonts())
            findings.error(
                "font-not-found",
                f'The workspace has no font "{font.name}"{near}',
                font.source.location,
            )
    return {name: file for name, file in files.items() if file is not None}


def _declare(font: DeclaredFont, file: FontFile) -> FontFaceDeclaration:
    return FontFaceDeclaration(
        font.family,
        file.sha256,
        font.index,
        None if font.weight is None else DescriptorRange(*map(float, font.weight)),
        None if font.stretch is None else DescriptorRange(*font.stretch),
        font.is_italic,
        font.settings,
    )


def _load(
    declared: dict[FontFaceDeclaration, tuple[DeclaredFont, FontFile]], findings: Findings
) -> dict[FontFaceDeclaration, FontProgram]:
    rebuilt: dict[str, tuple[FontProgram, ...]] = {}
    loaded: dict[FontFaceDeclaration, FontProgram] = {}
    for key, (font, file) in declared.items():
        try:
            program = FONT_SETS.load(key, file.read, rebuilt)
        except FontRefusedError as error:
            findings.error("font-refused", f'Font "{font.name}": {error}', font.source.location)
            continue
        _check_axes(font, program, findings)
        loaded[key] = program
        if sum(len(each.data) for each in set(loaded.values())) > MAX_BYTES:
            findings.error(
                "fonts-too-large",
                f"The fonts of the document are larger than {MAX_BYTES // 1_000_000} MB together",
                font.source.location,
            )
            break
    return loaded


def _check_axes(font: DeclaredFont, program: FontProgram, findings: Findings) -> None:
    """Warn about values for axes that the font lacks."""
    tags = [axis.tag for axis in program.properties.axes]
    unknown = [tag for tag, _ in font.settings if tag not in tags]
    if unknown:
        has = f"its axes are {', '.join(tags)}" if tags else "it is not variable"
        findings.warn(
            "no-effect",
            f'`font-variation-settings` names {", ".join(unknown)}, which the font "{font.name}" '
            f"does not have: {has}",
            font.source.location,
        )
