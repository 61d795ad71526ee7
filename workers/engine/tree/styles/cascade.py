"""The cascade and inheritance: computed styles from specified properties (CSS Cascade 5).

Built-in styles of elements are those of the user-agent style sheet (6.2), `user_agent.txt`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from workers.engine.characters import starts_right_to_left
from workers.engine.data_tables import read_groups
from workers.engine.syntax.identifiers import is_right_to_left
from workers.engine.syntax.numbers import PAGE
from workers.engine.syntax.typography import MIN_GRID_STEP, VARIANT_PROPERTIES, FontVariants
from workers.engine.syntax.values import (
    BorderValue,
    ColorName,
    ColorValue,
    FontUnit,
    LengthValue,
    RelativeLength,
)
from workers.engine.syntax.vocabulary import PROPERTIES
from workers.engine.tree.expressions.formats import get_decimal_symbol
from workers.engine.tree.styles.computed import (
    Align,
    BoxStyle,
    BreakStyle,
    BreakTo,
    HyphenLimits,
    LineGrid,
    Numbering,
    Overflow,
    ParagraphStyle,
    Style,
    TextStyle,
    TextWrap,
    VerticalAlign,
    WhiteSpace,
)
from workers.engine.units import (
    AUTO,
    NO_BORDER,
    ZERO,
    Border,
    BorderStyle,
    Color,
    Length,
    LengthKind,
    Sides,
)

# The word is translated where the number is made (elements/inlines.py).
DEFAULT_FIGURE_NUMBER: Final = "Figure 1:"


def _read_declarations(written: str) -> dict[str, str]:
    declarations = (declaration.partition(": ") for declaration in written.split("; "))
    return {name: value for name, _, value in declarations}


_SHEET: Final = {
    group: {name: _read_declarations(written) for name, written in styles.items()}
    for group, styles in read_groups(__package__, "user_agent.txt").items()
}
DECLARATIONS: Final = _SHEET["element"]
LIST_DECLARATIONS: Final = _SHEET["list"]  # of elements in list items
ENTRY_DECLARATIONS: Final = _SHEET["entry"]

_SIDES: Final = ("top", "right", "bottom", "left")
Properties = Mapping[str, Any]  # values as syntax.values parses them, shorthands expanded
NO_PROPERTIES: Final[Properties] = MappingProxyType({})


def expand_shorthands(values: Mapping[str, Any]) -> dict[str, object]:
    """Return shorthands as their four sides; a side given by itself overrides the shorthand."""
    spread_out: dict[str, object] = {}
    for name in ("margin", "padding"):
        if values.get(name) is not None:
            for side, value in zip(_SIDES, values[name], strict=True):
                spread_out[f"{name}-{side}"] = value
    if values.get("border") is not None:
        for side in _SIDES:
            spread_out[f"border-{side}"] = values["border"]
    shorthands = ("margin", "padding", "border")
    return spread_out | {name: v for name, v in values.items() if name not in shorthands}


# Built-in margins above blocks are not applied at the top of a page, box or cell.
_BETWEEN: Final = {"margin-top": "margin-between"}


def _parse_plain(written: Mapping[str, str]) -> dict[str, object]:
    parsed = expand_shorthands(
        {name: PROPERTIES[name].value_type.parse(text) for name, text in written.items()}
    )
    return {_BETWEEN.get(name, name): value for name, value in parsed.items()}


def _parse(declarations: Mapping[str, Mapping[str, str]]) -> Mapping[str, Properties]:
    parsed = {tag: _parse_plain(written) for tag, written in declarations.items()}
    for tag in ("ul", "ol"):  # markers are at the start of lines, which may be on the right
        parsed[tag]["padding-start"] = parsed[tag].pop("padding-left")
    return MappingProxyType(parsed)


_AT_START: Final = {"margin-left": "margin-start", "padding-left": "padding-start"}
BUILT_IN: Final = _parse(DECLARATIONS)
BUILT_IN_ENTRIES: Final = {
    # Entries are indented at the start of lines too; the styles of the author say left and right.
    name: {_AT_START.get(key, key): value for key, value in _parse_plain(written).items()}
    for name, written in ENTRY_DECLARATIONS.items()
}
BUILT_IN_MARKDOWN: Final = {
    tag: {**BUILT_IN[tag], **_parse_plain(written)} for tag, written in _SHEET["markdown"].items()
}
BUILT_IN_NOTES: Final = {tag: _parse_plain(written) for tag, written in _SHEET["note"].items()}
BUILT_IN_LISTS: Final = _parse(DECLARATIONS | LIST_DECLARATIONS)  # for content of list items


MAX_CACHED: Final = 512  # bounds the memory of styles that depend on data
SUB_DROP: Final = 0.2  # of the parent's font size, as browsers lower and raise sub and super
SUPER_RISE: Final = 0.33
_CELL_ALIGNMENTS: Final[dict[object, VerticalAlign]] = {word.value: word for word in VerticalAlign}

T = TypeVar("T")


class Inherited(NamedTuple):
    """The values that children inherit and a style has in another form, or not at all.

    A line height by number stays a number, and `start` is a side by the direction of each child.
    """

    line_height: float | Length = 1.35
    align: str = "start"
    transform: str = "none"
    is_auto: bool = False  # the direction of each paragraph is that of its first letter
    variants: FontVariants = FontVariants()
    has_optional_images: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ComputedStyle:
    """A computed style, from which children inherit, with `inherited`. Equal ones are one object."""

    style: Style
    inherited: Inherited

    @property
    def transform(self) -> str:
        """The text-transform that build applies, with the language of the text."""
        own = self.inherited.transform
        return own if own == "none" else f"{own} {self.style.text.lang}"

    def for_text(self, text: str) -> Style:
        """Return the style of a paragraph, whose direction may be that of its first letter."""
        own, lines = self.inherited, self.style.paragraph
        is_rtl = starts_right_to_left(text) if own.is_auto else None
        if is_rtl is None or is_rtl is lines.is_rtl:
            return self.style
        align = _resolve_align(own.align, is_rtl=is_rtl)
        return replace(self.style, paragraph=replace(lines, is_rtl=is_rtl, align=align))


class UnknownReference(Exception):
    """A name of a colour, style or page that is not declared; the text says which.

    `code` is the code of the finding, the same as for a literal name.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class StyleSheet:
    """The styles and colours a document declares, and the styles computed from them."""

    def __init__(
        self,
        colors: Mapping[str, Color],
        by_name: Mapping[str, Properties],
        by_element: Mapping[str, Properties],
        families: frozenset[str] = frozenset(),
    ) -> None:
        self._colors = colors
        self._by_name = by_name
        self._by_element = by_element
        self._families = families
        self._interned: dict[object, Any] = {}
        self._anonymous: dict[tuple[ComputedStyle, tuple[str, ...], bool, bool], ComputedStyle] = {}
        self.root_size = INITIAL_STYLE.text.size

    def compute_root(self, lang: str) -> ComputedStyle:
        """Return the style of `document`, from which every other inherits."""
        initial = ComputedStyle(INITIAL_STYLE, Inherited())
        self.root_size = INITIAL_STYLE.text.size
        root = self.compute(initial, self.element_properties("document"), lang=lang)
        self.root_size = root.style.text.size
        return root

    def element_properties(
        self,
        tag: str,
        *,
        is_in_list: bool = False,
        is_markdown: bool = False,
        is_in_note: bool = False,
    ) -> Properties:
        """Return a tag's properties below classes: user-agent ones, then those of `style element`."""
        built_in = (BUILT_IN_LISTS if is_in_list else BUILT_IN).get(tag, NO_PROPERTIES)
        if is_markdown:
            built_in = BUILT_IN_MARKDOWN.get(tag, built_in)
        if is_in_note:
            built_in = BUILT_IN_NOTES.get(tag, built_in)
        declared = self._by_element.get(tag, NO_PROPERTIES)
        return {**built_in, **declared} if declared else built_in

    def class_properties(self, name: str) -> Properties:
        """Return the properties of a named style.

        Raises:
            UnknownReference: there is no style of that name.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownReference("unknown-style", f'There is no style "{name}"') from None

    def entry_properties(self, name: str) -> Properties:
        """Return the properties of a part that no element makes: built in, then its named style."""
        return {**BUILT_IN_ENTRIES[name], **self.find_properties(name)}

    def find_properties(self, name: str) -> Properties:
        """Return the properties of a named style, none if it is not declared."""
        return self._by_name.get(name, NO_PROPERTIES)

    def get_color(self, value: ColorValue) -> Color:
        """Return a colour, resolved if it is a name.

        Raises:
            UnknownReference: there is no colour of that name.
        """
        if not isinstance(value, ColorName):
            return value
        color = self._colors.get(value.name, value.standard)
        if color is None:
            raise UnknownReference("unknown-color", f'There is no colour "{value.name}"')
        return color

    def get_page_family(self, name: str) -> str:
        """Return the name of a page family, checked.

        Raises:
            UnknownReference: there is no page of that name.
        """
        if name not in self._families:
            raise UnknownReference("unknown-page", f'There is no page "{name}"')
        return name

    def compute_anonymous(
        self, parent: ComputedStyle, *entries: str, is_inline: bool = False, in_table: bool = False
    ) -> ComputedStyle:
        """Return the style of a box that no element makes, computed once for each parent.

        Without `entries`, it has inherited values alone (CSS 2.1, 9.2.1.1); else the properties of
        these, in order.

        Raises:
            UnknownReference: a colour or page is not declared.
        """
        key = parent, entries, is_inline, in_table
        computed = self._anonymous.get(key)
        if computed is None:
            if len(self._anonymous) > MAX_CACHED:
                self._anonymous.clear()
            properties: dict[str, object] = {}
            for name in entries:
                properties |= self.entry_properties(name)
            computed = self._anonymous[key] = self.compute(
                parent, properties, is_inline=is_inline, in_table=in_table
            )
        return computed

    def compute(
        self,
        parent: ComputedStyle,
        properties: Properties,
        *,
        lang: str | None = None,
        is_inline: bool = False,
        in_table: bool = False,
    ) -> ComputedStyle:
        """Return an element's style from its parent's and its own specified properties.

        In a table, vertical-align is inherited from sections and rows by cells, as in HTML.

        Raises:
            UnknownReference: a colour or page is not declared.
        """
        values = _Computation(self, parent, properties, lang)
        inherited = values.inherit(in_table=in_table)
        text = self.intern(values.text(inherited.variants, is_inline=is_inline))
        style = Style(
            text=text,
            paragraph=self.intern(values.paragraph(inherited, text)),
            box=self.intern(
                values.box(parent.style.box.vertical_align if in_table else VerticalAlign.TOP)
            ),
            breaks=self.intern(values.breaks()),
            numbering=values.numbering(),
        )
        style = self.intern(style)
        key = (style, inherited)
        found: ComputedStyle | None = self._interned.get(key)
        if found is None:
            found = self._interned[key] = ComputedStyle(style, inherited)
        return found

    def to_points(self, value: LengthValue, computed: ComputedStyle) -> float:
        """Return a length in points; em are of the style's font size."""
        return self.resolve(value, computed.style.text.size)

    def resolve(self, value: LengthValue, size: float) -> float:
        """Return a length in points; em are of a font size."""
        if isinstance(value, RelativeLength):
            return value.value * (size if value.unit is FontUnit.EM else self.root_size)
        return value.value

    def to_length(self, value: LengthValue, computed: ComputedStyle) -> Length:
        """Return a length with font units resolved; per cent, fr and auto stay."""
        return value if isinstance(value, Length) else Length(self.to_points(value, computed))

    def to_optional_length(
        self, value: LengthValue | None, computed: ComputedStyle
    ) -> Length | None:
        """Return a length that may be left out, as `to_length` does."""
        return None if value is None else self.to_length(value, computed)

    def intern(self, value: T) -> T:
        """Return the one object of all equal ones."""
        if len(self._interned) > 64 * MAX_CACHED:
            self._interned.clear()
        kept: T = self._interned.setdefault(value, value)
        return kept


class _Computation:
    """One computation: specified values, what they are relative to, and their absolute forms."""

    def __init__(
        self, sheet: StyleSheet, parent: ComputedStyle, properties: Properties, lang: str | None
    ) -> None:
        self.sheet = sheet
        self.parent = parent
        self.get = properties.get
        self.lang = lang  # if the element states one
        self._properties = properties
        self.size = self._font_size()
        self.is_rtl = self._is_rtl()

    def inherit(self, *, in_table: bool) -> Inherited:
        """Compute the values that a style does not have as children inherit them."""
        get, parent = self.get, self.parent.inherited
        return Inherited(
            line_height=_apply_if_set(get("line-height"), self._line_height, parent.line_height),
            align=get("text-align", parent.align),
            transform=get("text-transform", parent.transform),
            is_auto=get("direction", "auto" if parent.is_auto and self.lang is None else "")
            == "auto",
            variants=self._variants(in_table),
            has_optional_images=get("optional-images", parent.has_optional_images),
        )

    def text(self, variants: FontVariants, *, is_inline: bool) -> TextStyle:
        """Compute the style of characters.

        A rise and a background are inherited by inline children, and a decoration is drawn through
        all children, as in CSS.
        """
        get, parent = self.get, self.parent.style.text
        background = get("background") if is_inline else None
        decoration = get("text-decoration")
        spacing = self.points("letter-spacing", parent.letter_spacing)
        lang = self.lang or parent.lang
        return TextStyle(
            families=get("font-family", parent.families),
            size=self.size,
            weight=get("font-weight", parent.weight),
            is_italic=_is_set_to("italic", get("font-style"), parent.is_italic),
            color=self._color(get("color")) or parent.color,
            letter_spacing=spacing,
            word_spacing=self.points("word-spacing", parent.word_spacing),
            decoration=decoration if decoration not in (None, "none") else parent.decoration,
            rise=parent.rise + self._rise() if is_inline else 0.0,
            background=self._color(background) or (parent.background if is_inline else None),
            lang=lang,
            stretch=get("font-stretch", parent.stretch),
            features=variants.list_features(),
            ligatures=() if spacing or _has_dotless_i(lang) else variants.list_ligatures(),
        )

    def paragraph(self, own: Inherited, text: TextStyle) -> ParagraphStyle:
        """Compute the style of lines; `text` is that of their characters."""
        get, parent, height = self.get, self.parent.style.paragraph, own.line_height
        step = get("line-grid")
        return ParagraphStyle(
            line_height=height.value if isinstance(height, Length) else height * self.size,
            align=_resolve_align(own.align, is_rtl=self.is_rtl),
            indent=self.points("text-indent", parent.indent),
            white_space=_apply_if_set(get("white-space"), WhiteSpace, parent.white_space),
            hyphens=get("hyphens", parent.hyphens),
            breaks_anywhere=_is_set_to("anywhere", get("overflow-wrap"), parent.breaks_anywhere),
            orphans=get("orphans", parent.orphans),
            widows=get("widows", parent.widows),
            is_rtl=self.is_rtl,
            decimal_sign=get_decimal_symbol(text.lang) if own.align == "decimal" else ".",
            text_wrap=_apply_if_set(get("text-wrap"), TextWrap, parent.text_wrap),
            hanging=get("hanging-punctuation", parent.hanging),
            hyphen_limits=self._hyphen_limits(parent.hyphen_limits),
            initial_letter=get("initial-letter") or None,
            line_grid=parent.line_grid if step is None else self._line_grid(step, text),
            has_autospace=_is_set_to("normal", get("text-autospace"), parent.has_autospace),
            has_spacing_trim=_is_set_to(
                "normal", get("text-spacing-trim"), parent.has_spacing_trim
            ),
            breaks_before_kana=_is_set_to("normal", get("line-break"), parent.breaks_before_kana),
        )

    def _hyphen_limits(self, parent: HyphenLimits) -> HyphenLimits:
        get = self.get
        return HyphenLimits(
            get("hyphenate-limit-chars", parent.chars),
            get("hyphenate-limit-lines", parent.lines),
            get("hyphenate-limit-last", parent.last),
            self.length("hyphenate-limit-zone", parent.zone),
        )

    def box(self, vertical_align: VerticalAlign) -> BoxStyle:
        """Compute the box; `vertical_align` is the value if none is specified."""
        get = self.get
        vertical = get("vertical-align")
        return BoxStyle(
            width=self.length("width", AUTO),
            height=self.length("height", AUTO),
            min_width=self.length("min-width", ZERO),
            max_width=self.length("max-width", None),
            min_height=self.length("min-height", ZERO),
            max_height=self.length("max-height", None),
            margin=self._each(self._margin),
            padding=self._each(self._padding),
            border=self._each(lambda side: self.border(get(f"border-{side}"))),
            radius=self.points("border-radius", 0.0),
            background=self._color(get("background")),
            background_image=get("background-image"),
            opacity=get("opacity", 1.0),
            overflow=Overflow(get("overflow", "error")),
            min_font_size=_apply_if_set(get("min-font-size"), self._points_of, None),
            rotate=get("rotate", 0.0),
            vertical_align=_CELL_ALIGNMENTS.get(vertical, vertical_align),
        )

    def breaks(self) -> BreakStyle:
        """Compute the break properties."""
        get = self.get
        return BreakStyle(
            before=BreakTo(get("break-before", "auto")),
            after=BreakTo(get("break-after", "auto")),
            avoid_inside=get("break-inside") == "avoid",
            page=_apply_if_set(
                get("page"), self.sheet.get_page_family, self.parent.style.breaks.page
            ),
            counter_reset=_page_reset(get("counter-reset")),
        )

    def numbering(self) -> Numbering | None:
        """Compute the numbering, None if nothing is counted."""
        get = self.get
        shape, resets, sets = get("number"), get("counter-reset") or (), get("counter-set") or ()
        others = tuple(
            (name, 1 if first is None else first) for name, first in resets if name != PAGE
        )
        width = get("number-width")
        if shape is None and not others and not sets and width is None:
            return None
        return self.sheet.intern(
            Numbering(
                shape,
                get("counter") or "",
                None if width is None else self._points_of(width),
                others,
                tuple(sets),
            )
        )

    def points(self, name: str, default: float) -> float:
        """Return a property in points."""
        value = self.get(name)
        return default if value is None else self._points_of(value)

    def length(self, name: str, default: T) -> Length | T:
        """Return a property as a length with font units resolved."""
        value = self.get(name)
        return default if value is None else self._length_of(value)

    def border(self, value: BorderValue | None) -> Border:
        """Return the border of one side; one without width is none."""
        if value is None or value.style is BorderStyle.NONE:
            return NO_BORDER
        width = self._points_of(value.width)
        return Border(width, value.style, self.sheet.get_color(value.color)) if width else NO_BORDER

    def _each(self, make: Callable[[str], T]) -> Sides[T]:
        return Sides(*(make(side) for side in _SIDES))

    def _is_rtl(self) -> bool:
        """Return the direction: the one stated, else that of a stated language, else the parent's."""
        stated = self.get("direction")
        if stated in ("ltr", "rtl"):
            return bool(stated == "rtl")
        parent = self.parent.style.paragraph
        return parent.is_rtl if self.lang is None else is_right_to_left(self.lang)

    def _variants(self, in_table: bool) -> FontVariants:
        properties, parent = self._properties, self.parent.inherited.variants
        if in_table <= parent.is_in_table and VARIANT_PROPERTIES.isdisjoint(properties):
            return parent
        return parent.apply_properties(properties, in_table=in_table)

    def _margin(self, side: str) -> Length:
        """Return a margin; `margin-start` of the user-agent style sheet follows the direction, and its
        `margin-between` is only between blocks.

        A narrow box is placed at the start of its container (CSS 2.1, 10.3.3).
        """
        value = self.get(f"margin-{side}")
        if value is None and side == ("right" if self.is_rtl else "left"):
            value = self.get("margin-start")
        if value is not None:
            return self._length_of(value)
        between = self.get("margin-between") if side == "top" else None
        if between is not None:
            return Length(self._points_of(between), LengthKind.BETWEEN)
        return AUTO if side == "left" and self.is_rtl else ZERO

    def _padding(self, side: str) -> float:
        """Return a padding; `padding-start` of the user-agent style sheet follows the direction."""
        own = self.points(f"padding-{side}", -1.0)
        if own >= 0:
            return own
        start = "right" if self.is_rtl else "left"
        return self.points("padding-start", 0.0) if side == start else 0.0

    def _color(self, value: ColorValue | None) -> Color | None:
        return None if value is None else self.sheet.get_color(value)

    def _length_of(self, value: LengthValue) -> Length:
        return value if isinstance(value, Length) else Length(self._points_of(value))

    def _points_of(self, value: LengthValue) -> float:
        return self.sheet.resolve(value, self.size)

    def _font_size(self) -> float:
        value, parent = self.get("font-size"), self.parent.style.text.size
        if value is None:
            return parent
        if isinstance(value, Length) and value.kind is LengthKind.PERCENT:
            return float(value.value * parent / 100)
        return float(self.sheet.resolve(value, parent))

    def _line_height(self, value: float | LengthValue) -> float | Length:
        return value if isinstance(value, float) else Length(self._points_of(value))

    def _line_grid(self, value: LengthValue, own: TextStyle) -> LineGrid | None:
        step = self._points_of(value)
        if not step:
            return None
        text = TextStyle(own.families, own.size, own.weight, own.is_italic, lang=own.lang)
        return self.sheet.intern(LineGrid(max(step, MIN_GRID_STEP), text))

    def _rise(self) -> float:
        value = self.get("vertical-align")
        match value:
            case "sub":
                return -SUB_DROP * self.parent.style.text.size
            case "super":
                return SUPER_RISE * self.parent.style.text.size
            case None | str():
                return 0.0
            case _:
                return self._points_of(value)


def _has_dotless_i(lang: str) -> bool:
    """Return whether a language has i and ı, which a ligature of f and i does not tell apart."""
    return lang.lower().split("-")[0] in _DOTLESS


_DOTLESS: Final = frozenset({"tr", "az", "crh", "gag", "tt", "kk"})


def _page_reset(resets: tuple[tuple[str, int | None], ...] | None) -> int | None:
    """Return the number at which page numbers restart, None if they do not."""
    for name, first in resets or ():
        if name == PAGE:
            return 1 if first is None else first
    return None


def _apply_if_set(value: object, read: Callable[[Any], T], default: T) -> T:
    return default if value is None else read(value)


def _is_set_to(word: str, value: object, default: bool) -> bool:
    return default if value is None else value == word


def _resolve_align(value: str, *, is_rtl: bool) -> Align:
    if value in ("start", "end"):
        return Align.RIGHT if (value == "end") != is_rtl else Align.LEFT
    return Align(value)


INITIAL_STYLE: Final = Style(
    TextStyle(("Noto Sans",), 10.0, 400, is_italic=False),
    ParagraphStyle(13.5, Align.LEFT),
    BoxStyle(),
    BreakStyle(),
)
