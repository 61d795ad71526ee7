"""Entries of dictionaries that drawing needs, by kind of object (ISO 32000-1); all others stay behind."""

from __future__ import annotations

from typing import Final

FORM: Final = ("Type", "Subtype", "BBox", "Matrix")
GROUP: Final = ("Type", "S", "CS", "I", "K")
IMAGE: Final = (
    *("Type", "Subtype", "Width", "Height", "ColorSpace", "BitsPerComponent", "Intent"),
    *("ImageMask", "Mask", "Decode", "SMask", "SMaskInData", "Matte"),
)
FILTER_PARAMETERS: Final = (
    *("Predictor", "Colors", "BitsPerComponent", "Columns", "K", "EndOfLine", "EncodedByteAlign"),
    *("Rows", "EndOfBlock", "BlackIs1", "DamagedRowsBeforeError", "ColorTransform", "JBIG2Globals"),
)
STATE: Final = (
    *("Type", "LW", "LC", "LJ", "ML", "D", "RI", "OP", "op", "OPM", "Font", "FL", "SM", "SA"),
    *("BM", "SMask", "CA", "ca", "AIS", "TK"),
)
SOFT_MASK: Final = ("Type", "S", "G", "BC", "TR")
TILING: Final = (
    "Type",
    "PatternType",
    "PaintType",
    "TilingType",
    "BBox",
    "XStep",
    "YStep",
    "Matrix",
)
SHADING_PATTERN: Final = ("Type", "PatternType", "Shading", "Matrix")
FONT: Final = (
    *("Type", "Subtype", "BaseFont", "FirstChar", "LastChar", "Widths", "FontDescriptor"),
    *("Encoding", "ToUnicode", "DescendantFonts", "CIDSystemInfo", "DW", "W", "DW2", "W2"),
    *("CIDToGIDMap", "FontBBox", "FontMatrix", "CharProcs", "Resources"),
)
FONT_FILES: Final = ("FontFile", "FontFile2", "FontFile3")
SHADING: Final = (
    *(
        "ShadingType",
        "ColorSpace",
        "Background",
        "BBox",
        "AntiAlias",
        "Domain",
        "Matrix",
        "Function",
    ),
    *("Coords", "Extend", "BitsPerCoordinate", "BitsPerComponent", "BitsPerFlag", "Decode"),
    "VerticesPerRow",
)
# Of a colour space of several colorants, and its process (ISO 32000-1, tables 71 and 72).
COLORANTS: Final = ("Subtype", "Process", "Colorants", "MixingHints")
PROCESS: Final = ("ColorSpace", "Components")
MIXING_HINTS: Final = ("Solidities", "PrintingOrder", "DotGain")
# Of functions, colour spaces, encodings, font descriptors and font programs. CharSet and
# CIDSet are optional, and PDF/A forbids those that are not complete.
VALUE: Final = frozenset(
    {
        "FunctionType",
        "Domain",
        "Range",
        "Size",
        "BitsPerSample",
        "Order",
        "Encode",
        "Decode",
        "C0",
        "C1",
    }
    | {"N", "Functions", "Bounds", "WhitePoint", "BlackPoint", "Gamma", "Matrix"}
    | {
        "Type",
        "Subtype",
        "BaseEncoding",
        "Differences",
        "CMapName",
        "CIDSystemInfo",
        "WMode",
        "UseCMap",
    }
    | {"Registry", "Ordering", "Supplement", "FontName", "FontFamily", "FontStretch", "FontWeight"}
    | {"Flags", "FontBBox", "ItalicAngle", "Ascent", "Descent", "Leading", "CapHeight", "XHeight"}
    | {"StemV", "StemH", "AvgWidth", "MaxWidth", "MissingWidth", *FONT_FILES}
    | {"Length1", "Length2", "Length3"}
)
# Types of dictionaries that are no content: a reference to one is left out.
OTHER_TYPES: Final = frozenset(
    {"Page", "Pages", "Catalog", "Annot", "StructElem", "StructTreeRoot", "Action", "Filespec"}
    | {"EmbeddedFile", "OBJR", "Sig", "Outlines", "XRef", "ObjStm"}
)
BLEND_MODES: Final = frozenset(
    {"Normal", "Compatible", "Multiply", "Screen", "Overlay", "Darken", "Lighten", "ColorDodge"}
    | {"ColorBurn", "HardLight", "SoftLight", "Difference", "Exclusion", "Hue", "Saturation"}
    | {"Color", "Luminosity"}
)
