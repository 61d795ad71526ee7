"""The form of the file: every object is found again, in object streams or by itself."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pikepdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.paint.drawing import opened, page, printed, text
from workers.engine.pdf_writer import (
    AlignedObjects,
    AppendedObjects,
    FormattedObjects,
    write_file,
    write_text,
)

ROOT = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << >> >>"
BEFORE = (ROOT, PAGES, PAGE)


def stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%b\nendstream" % (len(data), data)


def packed(*bodies: bytes, page: bytes = PAGE, **options: Any) -> bytes:
    """Write bodies after those of a document of one page, whose information comes last."""
    objects = [ROOT, PAGES, page, *bodies, b"<< /Producer (test) >>"]
    return write_file(FormattedObjects(objects, 1, len(objects), [3]), **options)


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
    with opened(packed(*bodies)) as pdf:
        assert pdf.check_pdf_syntax() == []
        for number, (kind, value) in enumerate(values, len(BEFORE) + 1):
            found = pdf.get_object(number, 0)
            if kind == "stream":
                assert found.read_raw_bytes() == value
            else:
                assert str(found[0]) == value.encode("utf-16", "replace").decode("utf-16")


def test_offsets_of_large_files_are_written_in_full():
    large = stream(bytes(70_000))  # beyond two bytes
    with opened(packed(large, stream(b"after"))) as pdf:
        assert pdf.check_pdf_syntax() == []
        assert pdf.get_object(5, 0).read_raw_bytes() == b"after"


def test_a_text_that_says_endstream_is_not_a_stream():
    file = packed(b"(... endstream)", b"[/endstream]")
    with opened(file) as pdf:
        assert str(pdf.get_object(4, 0)) == "... endstream"
        assert pdf.get_object(5, 0)[0] == pikepdf.Name.endstream


def test_small_objects_do_not_stand_in_the_file_by_themselves():
    file = printed(*(page(text(5, 20, "x")) for _ in range(250)))
    assert file.count(b"/ObjStm") == 2
    assert b"/Type /Page" not in file
    with opened(file) as pdf:
        assert len(pdf.pages) == 250


@pytest.mark.parametrize(("count", "streams"), [(246, 1), (247, 2), (600, 3)])
def test_an_object_stream_has_at_most_250_objects(count: int, streams: int):
    bodies = [b"[%d]" % at for at in range(count)]
    file = packed(*bodies)  # with the page, those above it, and the information
    assert file.count(b"/ObjStm") == streams
    with opened(file) as pdf:
        assert pdf.check_pdf_syntax() == []
        found = [int(pdf.get_object(len(BEFORE) + 1 + at, 0)[0]) for at in range(count)]
    assert found == [*range(count)]


def test_the_identifier_depends_on_the_file_content():
    one, same, other = (printed(page(text(5, 20, said))) for said in ("one", "one", "other"))
    assert one == same
    with opened(one) as first, opened(other) as second:
        assert bytes(first.trailer.ID[0]) == bytes(first.trailer.ID[1])
        assert bytes(first.trailer.ID[0]) != bytes(second.trailer.ID[0])


@given(
    columns=st.integers(16, 70),
    rows=st.lists(st.integers(1, 3), min_size=1, max_size=60),
    repeats=st.sampled_from([1, 50]),
    filling=st.binary(min_size=1, max_size=60).filter(
        lambda value: not set(value) & set(b"()\\\r")
    ),
)
def test_every_aligned_object_is_found_again(columns, rows, repeats, filling):
    lengths = [count * columns for count in rows * repeats]
    bodies = [
        (b"(%b)" % (filling * length)[: length - 2 - at % 10]).ljust(length)
        for at, length in enumerate(lengths)
    ]
    firsts: list[int] = []

    def append(first: int) -> AppendedObjects:
        firsts.append(first + 1)
        offsets = (0, *accumulate(lengths[:-1]))
        block = AlignedObjects(columns, offsets, lined(bodies, columns))
        return AppendedObjects([b"(small)"], {}, 2 * len(bodies), [block, block])

    # Readers refuse files with less than 3 bytes an object.
    with opened(packed(stream(bytes(60_000)), append=append)) as pdf:
        assert pdf.check_pdf_syntax() == []
        for at, body in enumerate([*bodies, *bodies]):
            assert bytes(pdf.get_object(firsts[0] + at, 0)) == body.strip()[1:-1]


def lined(bodies: list[bytes], columns: int) -> bytes:
    """Return bodies with a zero byte before each row."""
    data = b"".join(bodies)
    return b"".join(b"\0" + data[at : at + columns] for at in range(0, len(data), columns))


@pytest.mark.parametrize("count", [0, 300])  # more than an object stream takes
def test_entries_are_added_to_dictionaries(count: int):
    additions = {3: b"/StructParents 7 /Tabs /S"}
    firsts: list[int] = []

    def append(first: int) -> AppendedObjects:
        firsts.append(first)
        return AppendedObjects([b"<< /Kind /More >>"], additions)

    more = [b"[%d]" % at for at in range(count)]
    with opened(packed(stream(b">> endstream <<"), *more, append=append)) as pdf:
        assert pdf.check_pdf_syntax() == []
        assert pdf.get_object(firsts[0], 0).Kind == "/More"
        assert (pdf.pages[0].obj.StructParents, pdf.pages[0].obj.Tabs) == (7, "/S")
        assert pdf.get_object(4, 0).read_raw_bytes() == b">> endstream <<"
        assert pdf.docinfo["/Producer"] == "test"
