"""The form of the file: every object is found again, in object streams or by itself."""

from __future__ import annotations

import pikepdf
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.paint.drawing import opened, page, printed, text
from workers.engine.packing import pack
from workers.engine.paint.objects import write_text

ROOT = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << >> >>"
BEFORE = (ROOT, PAGES, PAGE)


def stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%b\nendstream" % (len(data), data)


def packed(*bodies: bytes) -> bytes:
    return pack((*BEFORE, *bodies), root=b"1 0 R", information=b"4 0 R")


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30).map(lambda value: ("text", value)),
            st.binary(max_size=300).map(lambda value: ("stream", value)),
        ),
        max_size=250,
    )
)
def test_every_object_is_found_again(values):
    bodies = [
        stream(value) if kind == "stream" else b"[%b]" % write_text(value) for kind, value in values
    ]
    with opened(packed(b"<< >>", *bodies)) as pdf:
        assert pdf.check_pdf_syntax() == []
        for number, (kind, value) in enumerate(values, len(BEFORE) + 2):
            found = pdf.get_object(number, 0)
            if kind == "stream":
                assert found.read_raw_bytes() == value
            else:
                assert str(found[0]) == value.encode("utf-16", "replace").decode("utf-16")


def test_offsets_of_large_files_are_kept():
    large = stream(bytes(70_000))  # beyond two bytes
    with opened(packed(b"<< >>", large, stream(b"after"))) as pdf:
        assert pdf.check_pdf_syntax() == []
        assert pdf.get_object(6, 0).read_raw_bytes() == b"after"


def test_a_text_that_says_endstream_is_not_a_stream():
    file = packed(b"<< >>", b"(... endstream)", b"[/endstream]")
    with opened(file) as pdf:
        assert str(pdf.get_object(5, 0)) == "... endstream"
        assert pdf.get_object(6, 0)[0] == pikepdf.Name.endstream


def test_small_objects_do_not_stand_in_the_file_by_themselves():
    file = printed(*(page(text(5, 20, "x")) for _ in range(250)))
    assert file.count(b"/ObjStm") == 3
    assert b"/Type /Page" not in file
    with opened(file) as pdf:
        assert len(pdf.pages) == 250


def test_identifier_is_of_what_the_file_holds():
    one, same, other = (printed(page(text(5, 20, said))) for said in ("one", "one", "other"))
    assert one == same
    with opened(one) as first, opened(other) as second:
        assert bytes(first.trailer.ID[0]) == bytes(first.trailer.ID[1])
        assert bytes(first.trailer.ID[0]) != bytes(second.trailer.ID[0])
