"""The machine-checkable failure conditions of the Matterhorn Protocol 1.1, by number, in short.

The protocol has 87 of them, and 48 more that only a person can decide. Requirements of ISO 14289-1 to
which it gives no number are named by their clause: 6.2 (the mark of a tagged file), 7.1 and 7.2.
"""

from __future__ import annotations

from typing import Final

_REAL_CONTENT = {
    "01-003": "an artifact in tagged content",
    "01-004": "tagged content in an artifact",
    "01-005": "content that is neither tagged nor an artifact",
    "01-007": "Suspects is true",
    "02-001": "a type that maps to no standard type",
    "02-003": "a circular mapping of types",
    "02-004": "a standard type is mapped",
}
_DOCUMENT = {
    "06-001": "no XMP metadata",
    "06-002": "no PDF/UA identifier",
    "06-003": "no dc:title",
    "07-001": "no DisplayDocTitle",
    "07-002": "DisplayDocTitle is false",
    "20-001": "optional content: a configuration without a name",
    "20-002": "optional content: the default configuration without a name",
    "20-003": "optional content: AS in a configuration",
    "21-001": "embedded file without F and UF",
    "25-001": "XFA: dynamicRender is required",
    "26-001": "encrypted without P",
    "26-002": "encrypted, and closed to screen readers",
}
_STRUCTURE = {
    "09-004": "a table against its syntax",
    "09-005": "a list against its syntax",
    "09-006": "contents against their syntax",
    "09-007": "ruby against its syntax",
    "09-008": "warichu against its syntax",
    "13-004": "Figure without Alt or ActualText",
    "14-002": "the first heading is not H1",
    "14-003": "a level of headings is skipped",
    "14-006": "a node with several H",
    "14-007": "H beside H1 to H6",
    "15-003": "TH without Scope",
    "17-002": "Formula without Alt",
    "17-003": "Formula with characters that map to no Unicode value",
    "19-003": "Note without ID",
    "19-004": "ID of a Note is not unique",
}
_TEXT = {
    "10-001": "a code that maps to no Unicode value",
    "11-001": "no language for text",
    "11-002": "no language for Alt, ActualText or E",
    "11-003": "no language for the outline",
    "11-004": "no language for Contents of an annotation",
    "11-005": "no language for TU of a form field",
    "11-006": "no language for metadata",
}
_ANNOTATIONS = {
    "28-002": "an annotation that is not in an Annot element",
    "28-004": "an annotation with neither Contents nor Alt",
    "28-005": "a form field with neither TU nor Alt",
    "28-006": "an annotation of a type that is not defined, and not described",
    "28-007": "a TrapNet annotation",
    "28-008": "a page with annotations has no Tabs",
    "28-009": "Tabs of a page with annotations is not S",
    "28-010": "a widget that is not in a Form element",
    "28-011": "a link that is not in a Link element",
    "28-012": "a link without Contents",
    "28-014": "a media clip without CT",
    "28-015": "a media clip without Alt",
    "28-016": "a file attachment without F and UF",
    "28-017": "a printer's mark in the structure",
    "28-018": "a printer's mark whose appearance is no artifact",
    "30-001": "a reference XObject",
    "30-002": "a form with tagged content is drawn twice",
}
_FONTS = {
    "31-001": "Registry of font and CMap differ",
    "31-002": "Ordering of font and CMap differ",
    "31-003": "Supplement of the font is below that of its CMap",
    "31-004": "CIDToGIDMap is neither a stream nor Identity",
    "31-005": "no CIDToGIDMap",
    "31-006": "a CMap that is neither predefined nor embedded",
    "31-007": "WMode of a CMap differs from its stream",
    "31-008": "a CMap uses one that is not predefined",
    "31-009": "a font is not embedded",
    "31-011": "a glyph is not in the font program",
    "31-012": "CharSet lacks a glyph of the font program",
    "31-013": "CharSet lists a glyph that the font program lacks",
    "31-014": "CIDSet lacks a glyph of the font program",
    "31-015": "CIDSet lists a glyph that the font program lacks",
    "31-016": "a width differs from the font program",
    "31-017": "not symbolic, and no cmap for it",
    "31-018": "not symbolic, and a code is in no cmap",
    "31-019": "not symbolic, and no Encoding",
    "31-020": "not symbolic, and an Encoding without BaseEncoding",
    "31-021": "not symbolic, and an Encoding other than MacRoman and WinAnsi",
    "31-022": "Differences with a name that is not in the Adobe Glyph List",
    "31-023": "Differences, and no Microsoft Unicode cmap",
    "31-024": "symbolic, and an Encoding",
    "31-025": "symbolic, and no cmap",
    "31-026": "symbolic, and several cmaps, none of them for symbols",
    "31-027": "no ToUnicode",
    "31-028": "ToUnicode maps to zero",
    "31-029": "ToUnicode maps to U+FEFF or U+FFFE",
    "31-030": "text shows .notdef",
}
CONDITIONS: Final = {**_REAL_CONTENT, **_DOCUMENT, **_STRUCTURE, **_TEXT, **_ANNOTATIONS, **_FONTS}


def name(number: str, detail: object = "") -> str:
    """Return a condition as it is reported: its number, its words, and what failed it."""
    words = f"{number} {CONDITIONS[number]}"
    return f"{words}: {detail}" if str(detail) else words
