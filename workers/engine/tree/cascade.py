"""From properties to computed styles: the cascade and inheritance of language.md 1.5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from workers.engine.syntax.numbers import PAGE
from workers.engine.syntax.values import (
    BorderValue,
    ColorName,
    ColorValue,
    FontUnit,
    LengthValue,
    RelativeLength,
)
from workers.engine.tree.directions import reads_from_right
from workers.engine.tree.formats import find_decimal_sign
from workers.engine.tree.looks import (
    BUILT_IN,
    BUILT_IN_ENTRIES,
    BUILT_IN_LISTS,
    BUILT_IN_MARKDOWN,
    NO_PROPERTIES,
    Properties,
)
from workers.engine.tree.styles import (
    Align,
    BoxStyle,
    BreakStyle,
    BreakTo,
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
    BLACK,
    NO_BORDER,
    ZERO,
    Border,
    BorderStyle,
    Color,
    Length,
    LengthKind,
    Sides,
)

MAX_CACHED: Final = 512  # looks that depend on data must not grow a template's memory without end
SUB_DROP: Final = 0.2  # of the parent's font size, as browsers lower and raise sub and super
SUPER_RISE: Final = 0.33
_SIDES: Final = ("top", "right", "bottom", "left")
# Languages and scripts that read from right to left; a script that is named decides.
_CELL_WORDS: Final[dict[Any, VerticalAlign]] = {word.value: word for word in VerticalAlign}

T = TypeVar("T")


class Inherited(NamedTuple):
    """What children take over, as it was specified: a line height by number stays a number."""

    families: tuple[str, ...] = ("Noto Sans",)
    size: float = 10.0
    weight: int = 400
    is_italic: bool = False
    color: Color = BLACK
    line_height: float | Length = 1.35
    letter_spacing: float = 0.0
    align: str = "start"
    indent: float = 0.0
    transform: str = "none"
    white_space: WhiteSpace = WhiteSpace.NORMAL
    hyphens: str = "manual"
    text_wrap: TextWrap = TextWrap.AUTO
    breaks_anywhere: bool = True
    orphans: int = 2
    widows: int = 2
    lang: str = "en"
    is_rtl: bool = False
    decoration: str = "none"  # drawn through the children too, as in CSS
    page: str | None = None
    stretch: float = 100.0


class Look:
    """A computed style with what its children inherit. Compared by identity: equal looks are one."""

    __slots__ = ("inherited", "style")

    def __init__(self, style: Style, inherited: Inherited) -> None:
        self.style = style
        self.inherited = inherited

    @property
    def transform(self) -> str:
        """Give the text-transform that build applies."""
        return self.inherited.transform


class UnknownReference(Exception):
    """A colour or a style is named that the document does not declare; the text says which.

    `code` is the rule's name, the same as where a literal name is checked.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class StyleSheet:
    """The styles and colours a document declares, and the looks computed from them."""

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
        self._interned: dict[Any, Any] = {}
        self._anonymous: dict[Look, Look] = {}
        self.root_size = Inherited().size

    def make_root(self, lang: str) -> Look:
        """Give the look of `document`, from which every other inherits."""
        initial = Look(_INITIAL, Inherited())
        self.root_size = initial.inherited.size
        root = self.compute(initial, self.properties_of("document"), lang=lang)
        self.root_size = root.inherited.size
        return root

    def properties_of(
        self, tag: str, *, is_in_list: bool = False, is_markdown: bool = False
    ) -> Properties:
        """Give what a tag looks like before classes: built in, then `style element`."""
        built_in = (BUILT_IN_LISTS if is_in_list else BUILT_IN).get(tag, NO_PROPERTIES)
        if is_markdown:
            built_in = BUILT_IN_MARKDOWN.get(tag, built_in)
        declared = self._by_element.get(tag, NO_PROPERTIES)
        return {**built_in, **declared} if declared else built_in

    def properties_of_class(self, name: str) -> Properties:
        """Give the properties of a named style.

        Raises:
            UnknownReference: no style of that name.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownReference("unknown-style", f'There is no style "{name}"') from None

    def properties_of_entry(self, name: str) -> Properties:
        """Return what an entry of contents or an index looks like: built in, then a style of its name."""
        return {**BUILT_IN_ENTRIES[name], **self.find_properties(name)}

    def find_properties(self, name: str) -> Properties:
        """Return the properties of a named style, none for one that is not declared."""
        return self._by_name.get(name, NO_PROPERTIES)

    def find_color(self, value: ColorValue) -> Color:
        """Give a colour, by its name if it has one.

        Raises:
            UnknownReference: no colour of that name.
        """
        if not isinstance(value, ColorName):
            return value
        color = self._colors.get(value.name, value.standard)
        if color is None:
            raise UnknownReference("unknown-color", f'There is no colour "{value.name}"')
        return color

    def find_family(self, name: str) -> str:
        """Give the name of a page family the document has.

        Raises:
            UnknownReference: no page of that name.
        """
        if name not in self._families:
            raise UnknownReference("unknown-page", f'There is no page "{name}"')
        return name

    def anonymous(self, parent: Look) -> Look:
        """Give the look of a box no element stands for: what is inherited, and nothing else."""
        look = self._anonymous.get(parent)
        if look is None:
            if len(self._anonymous) > MAX_CACHED:
                self._anonymous.clear()
            look = self._anonymous[parent] = self.compute(parent, NO_PROPERTIES)
        return look

    def compute(
        self,
        parent: Look,
        properties: Properties,
        *,
        lang: str | None = None,
        is_inline: bool = False,
        in_table: bool = False,
    ) -> Look:
        """Compute an element's look from its parent's and its own specified properties.

        In a table vertical-align comes down from sections and rows to cells, as in HTML.

        Raises:
            UnknownReference: a colour is not declared.
        """
        values = _Values(self, parent.inherited, properties)
        inherited = values.inherit(lang)
        style = Style(
            text=self.intern(values.text(parent.style.text, is_inline=is_inline)),
            paragraph=self.intern(values.paragraph()),
            box=self.intern(
                values.box(parent.style.box.vertical_align if in_table else VerticalAlign.TOP)
            ),
            breaks=self.intern(values.breaks()),
            numbering=values.numbering(),
        )
        style = self.intern(style)
        key = (id(style), inherited)
        found: Look | None = self._interned.get(key)
        if found is None:
            found = self._interned[key] = Look(style, inherited)
        return found

    def to_points(self, value: LengthValue, look: Look) -> float:
        """Give a length in points; em is of the look's font size."""
        if isinstance(value, RelativeLength):
            base = look.inherited.size if value.unit is FontUnit.EM else self.root_size
            return value.value * base
        return value.value

    def to_length(self, value: LengthValue, look: Look) -> Length:
        """Give a length without font units; per cent, fr and auto stay."""
        if isinstance(value, RelativeLength):
            return Length(self.to_points(value, look))
        return value

    def intern(self, value: T) -> T:
        """Return the one object of all equal ones."""
        if len(self._interned) > 64 * MAX_CACHED:
            self._interned.clear()
        kept: T = self._interned.setdefault(value, value)
        return kept


class _Values:
    """One computation: specified values, what they are relative to, and their absolute forms."""

    def __init__(self, sheet: StyleSheet, parent: Inherited, properties: Properties) -> None:
        self.sheet = sheet
        self.parent = parent
        self.get = properties.get
        self.size = self._font_size()
        self.inherited = parent

    def inherit(self, lang: str | None) -> Inherited:
        """Compute what children take over."""
        get, parent = self.get, self.parent
        color = get("color")
        decoration = get("text-decoration")
        self.inherited = Inherited(
            families=get("font-family", parent.families),
            size=self.size,
            weight=get("font-weight", parent.weight),
            is_italic=_given(get("font-style"), lambda v: v == "italic", parent.is_italic),
            color=parent.color if color is None else self.sheet.find_color(color),
            line_height=_given(get("line-height"), self._line_height, parent.line_height),
            letter_spacing=self.points("letter-spacing", parent.letter_spacing),
            align=get("text-align", parent.align),
            indent=self.points("text-indent", parent.indent),
            transform=get("text-transform", parent.transform),
            white_space=_given(get("white-space"), WhiteSpace, parent.white_space),
            hyphens=get("hyphens", parent.hyphens),
            text_wrap=_given(get("text-wrap"), TextWrap, parent.text_wrap),
            breaks_anywhere=_given(
                get("overflow-wrap"), lambda v: v == "anywhere", parent.breaks_anywhere
            ),
            orphans=get("orphans", parent.orphans),
            widows=get("widows", parent.widows),
            lang=lang or parent.lang,
            is_rtl=self._is_rtl(lang),
            decoration=decoration if decoration not in (None, "none") else parent.decoration,
            page=_given(get("page"), self.sheet.find_family, parent.page),
            stretch=get("font-stretch", parent.stretch),
        )
        return self.inherited

    def text(self, parent: TextStyle, *, is_inline: bool) -> TextStyle:
        """Compute how characters look; a rise and a background go on into inline children."""
        own = self.inherited
        background = self.get("background") if is_inline else None
        rise = parent.rise if is_inline else 0.0
        return TextStyle(
            families=own.families,
            size=own.size,
            weight=own.weight,
            is_italic=own.is_italic,
            color=own.color,
            letter_spacing=own.letter_spacing,
            decoration=own.decoration,
            rise=rise + (self._rise() if is_inline else 0.0),
            background=self._color(background) or (parent.background if is_inline else None),
            lang=own.lang,
            stretch=own.stretch,
        )

    def paragraph(self) -> ParagraphStyle:
        """Compute how lines are made."""
        own = self.inherited
        is_rtl = own.is_rtl
        height = own.line_height
        return ParagraphStyle(
            line_height=height.value if isinstance(height, Length) else height * own.size,
            align=_align(own.align, is_rtl=is_rtl),
            indent=own.indent,
            white_space=own.white_space,
            hyphens=own.hyphens,
            breaks_anywhere=own.breaks_anywhere,
            orphans=own.orphans,
            widows=own.widows,
            is_rtl=is_rtl,
            decimal_sign=find_decimal_sign(own.lang) if own.align == "decimal" else ".",
            text_wrap=own.text_wrap,
        )

    def box(self, vertical_align: VerticalAlign) -> BoxStyle:
        """Compute the box; a `vertical_align` that is not specified is the one given."""
        get = self.get
        vertical = get("vertical-align")
        return BoxStyle(
            width=self.length("width", AUTO),
            height=self.length("height", AUTO),
            min_width=self.length("min-width", ZERO),
            max_width=self._limit("max-width"),
            min_height=self.length("min-height", ZERO),
            max_height=self._limit("max-height"),
            margin=self._each(self._margin),
            padding=self._each(self._padding),
            border=self._each(lambda side: self.border(get(f"border-{side}"))),
            radius=self.points("border-radius", 0.0),
            background=self._color(get("background")),
            background_image=self._image(),
            opacity=get("opacity", 1.0),
            overflow=Overflow(get("overflow", "error")),
            min_font_size=_given(get("min-font-size"), self._points_of, None),
            rotate=get("rotate", 0.0),
            vertical_align=_CELL_WORDS.get(vertical, vertical_align),
        )

    def breaks(self) -> BreakStyle:
        """Compute where the flow may break."""
        get = self.get
        return BreakStyle(
            before=BreakTo(get("break-before", "auto")),
            after=BreakTo(get("break-after", "auto")),
            avoid_inside=get("break-inside") == "avoid",
            page=self.inherited.page,
            counter_reset=_page_reset(get("counter-reset")),
        )

    def numbering(self) -> Numbering | None:
        """Compute what is counted, None for nothing."""
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
        """Give a property in points."""
        value = self.get(name)
        return default if value is None else self._points_of(value)

    def length(self, name: str, default: Length) -> Length:
        """Give a property as a length without font units."""
        value = self.get(name)
        return default if value is None else self._length_of(value)

    def border(self, value: BorderValue | None) -> Border:
        """Give one side's line; one without width is none."""
        if value is None or value.style is BorderStyle.NONE:
            return NO_BORDER
        width = self._points_of(value.width)
        return (
            Border(width, value.style, self.sheet.find_color(value.color)) if width else NO_BORDER
        )

    def _image(self) -> Any:
        return self.get("background-image")

    def _each(self, make: Callable[[str], T]) -> Sides[T]:
        return Sides(*(make(side) for side in _SIDES))

    def _is_rtl(self, lang: str | None) -> bool:
        """Tell which way text reads: as stated, or as the language does where it is stated."""
        stated = self.get("direction")
        if stated is not None:
            return bool(stated == "rtl")
        return self.parent.is_rtl if lang is None else reads_from_right(lang)

    def _margin(self, side: str) -> Length:
        """Give a margin; what is narrower than its container stands where lines begin (CSS 2.1, 10.3.3)."""
        takes_rest = side == "left" and self.inherited.is_rtl
        return self.length(f"margin-{side}", AUTO if takes_rest else ZERO)

    def _padding(self, side: str) -> float:
        """Give a padding; `padding-start`, which only built-in looks have, is where lines begin."""
        own = self.points(f"padding-{side}", -1.0)
        if own >= 0:
            return own
        start = "right" if self.inherited.is_rtl else "left"
        return self.points("padding-start", 0.0) if side == start else 0.0

    def _limit(self, name: str) -> Length | None:
        value = self.get(name)
        return None if value is None else self._length_of(value)

    def _color(self, value: ColorValue | None) -> Color | None:
        return None if value is None else self.sheet.find_color(value)

    def _length_of(self, value: LengthValue) -> Length:
        if isinstance(value, RelativeLength):
            return Length(self._points_of(value))
        return value

    def _points_of(self, value: LengthValue) -> float:
        if isinstance(value, RelativeLength):
            return value.value * (self.size if value.unit is FontUnit.EM else self.sheet.root_size)
        return value.value

    def _font_size(self) -> float:
        value = self.get("font-size")
        if value is None:
            return self.parent.size
        if isinstance(value, RelativeLength):
            base = self.parent.size if value.unit is FontUnit.EM else self.sheet.root_size
            return float(value.value * base)
        if value.kind is LengthKind.PERCENT:
            return float(value.value * self.parent.size / 100)
        return float(value.value)

    def _line_height(self, value: float | LengthValue) -> float | Length:
        return value if isinstance(value, float) else Length(self._points_of(value))

    def _rise(self) -> float:
        value = self.get("vertical-align")
        match value:
            case "sub":
                return -SUB_DROP * self.parent.size
            case "super":
                return SUPER_RISE * self.parent.size
            case None | str():
                return 0.0
            case _:
                return self._points_of(value)


def _page_reset(resets: tuple[tuple[str, int | None], ...] | None) -> int | None:
    """Return the number with which pages are counted anew, None where they are not."""
    for name, first in resets or ():
        if name == PAGE:
            return 1 if first is None else first
    return None


def _given(value: Any, read: Callable[[Any], T], otherwise: T) -> T:
    return otherwise if value is None else read(value)


def _align(value: str, *, is_rtl: bool) -> Align:
    if value in ("start", "end"):
        return Align.RIGHT if (value == "end") != is_rtl else Align.LEFT
    return Align(value)


_INITIAL: Final = Style(
    TextStyle(("Noto Sans",), 10.0, 400, False, BLACK, 0.0, "none", 0.0, None, "en"),
    ParagraphStyle(13.5, Align.LEFT, 0.0, WhiteSpace.NORMAL, "manual", True, 2, 2, False),
    BoxStyle(
        AUTO, AUTO, ZERO, None, ZERO, None, Sides(ZERO, ZERO, ZERO, ZERO), Sides(0.0, 0.0, 0.0, 0.0),
        Sides(NO_BORDER, NO_BORDER, NO_BORDER, NO_BORDER), 0.0, None, None, 1.0, Overflow.ERROR, None,
        0.0, VerticalAlign.TOP,
    ),
    BreakStyle(BreakTo.AUTO, BreakTo.AUTO, False, None, None),
)  # fmt: skip
