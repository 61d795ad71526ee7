"""The font set of the product: faces by family, their coverage, metrics, encoding and shaping."""

from workers.engine.fonts.faces import Face, JoinedTexts, code_of, encodable_text
from workers.engine.fonts.families import (
    EXTRA_FAMILIES,
    FAMILIES,
    FAMILY_ALIASES,
    GENERIC_FAMILIES,
    needs_extra_fonts,
)
from workers.engine.fonts.sanitizing import (
    OPERATIONS,
    DescriptorRange,
    FaceProperties,
    FontProgram,
    FontRefusedError,
    inspect_font,
    is_color_glyph,
    make_painter,
    write_font_file,
)
from workers.engine.fonts.sets import BUNDLED, FONT_SETS, FontFaceDeclaration, FontRequest, FontSet
from workers.engine.fonts.shaping import (
    Cluster,
    Shaper,
    find_shaper,
    has_effect,
    has_ligatures,
    is_cursive,
    needs_shaping,
    shape_word,
)
