"""An SVG becomes a vector image: read, measured, counted, drawn as operators of PDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, log10
from typing import Final

from workers.engine.layout.images.prepared import PreparedImage, UndrawableError
from workers.engine.layout.svg.canvas import Canvas
from workers.engine.layout.svg.converter import Converter
from workers.engine.layout.svg.counting import count_drawn
from workers.engine.layout.svg.drawing import Form, Tile, VectorImage
from workers.engine.layout.svg.limits import SIMPLER, Work
from workers.engine.layout.svg.reader import Node, read_svg
from workers.engine.layout.svg.sheets import StyleSheet
from workers.engine.layout.svg.sizes import find_size, fit_box, read_view_box
from workers.engine.layout.svg.spot import Job, Spot
from workers.engine.layout.svg.values import Viewport, multiply

_MAX_LEFT_OUT = 20


def convert_svg(data: bytes, key: str, prepare: Callable[[bytes], PreparedImage]) -> VectorImage:
    """Convert a file; `prepare` prepares the images in it.

    Nothing outside of the file is reached. What cannot be drawn is left out and named.

    Raises:
        UndrawableError: not well-formed, without a size, with entities, or over a bound.
    """
    root = read_svg(data)
    width, height = find_size(root)
    identities: dict[str, Node] = {}
    for node in root.walk():
        identity = node.attributes.get("id")
        if identity:
            identities.setdefault(identity, node)
    count_drawn(root, identities)
    work, left_out = Work(), dict[str, None]()
    sheets = [node.text for node in root.walk() if node.tag == "style"]
    unit = 10.0 ** (2 - floor(log10(max(width, height))))  # a side of 100 to 1000 units
    job = Job(identities, StyleSheet(sheets, work, left_out), work, prepare, left_out, unit=unit)
    form = _draw(root, job, width, height)
    told = tuple(left_out)
    if len(told) > _MAX_LEFT_OUT:
        told = (*told[:_MAX_LEFT_OUT], f"{len(told) - _MAX_LEFT_OUT} more things")
    images = list(_find_images(form))
    weight = _weigh(form, images)
    has_cmyk = any(image.pixels.color_space == "DeviceCMYK" for image in images)
    return VectorImage(key, width, height, form, weight, told, "".join(job.missing), has_cmyk)


def _draw(root: Node, job: Job, width: float, height: float) -> Form:
    """Draw the root, whose own place in a page means nothing here."""
    unit = job.unit
    box = read_view_box(root)
    base = multiply(
        (unit, 0, 0, -unit, 0, height * unit),
        fit_box(box, root.attributes.get("preserveAspectRatio", ""), width, height),
    )
    viewport = Viewport(box.width, box.height) if box else Viewport(width, height)
    canvas = Canvas((0.0, 0.0, width * unit, height * unit), job.work)
    try:
        Converter(job).draw_root(root, Spot(canvas, base, viewport))
    except RecursionError:
        raise UndrawableError("The SVG nests what is drawn too deep", advice=SIMPLER) from None
    return canvas.finish(is_group=False)


def _forms_in(form: Form) -> Iterator[Form]:
    """Give a form and all it is made of, each once."""
    seen: set[int] = set()
    stack = [form]
    while stack:
        form = stack.pop()
        if id(form) in seen:
            continue
        seen.add(id(form))
        yield form
        stack += [state.mask for state in form.states.values() if state.mask is not None]
        stack += [item.form for item in form.patterns.values() if isinstance(item, Tile)]
        stack += [item for item in form.pictures.values() if isinstance(item, Form)]


def _find_images(form: Form) -> Iterator[PreparedImage]:
    found = {
        image.key: image
        for part in _forms_in(form)
        for image in part.pictures.values()
        if isinstance(image, PreparedImage)
    }
    yield from found.values()


_SHAPED: Final = 100  # bytes of a cluster; most are shared with other text


def _weigh(form: Form, images: list[PreparedImage]) -> int:
    """Give about the bytes that a drawing takes in memory."""
    total = 0
    for part in _forms_in(form):
        total += (
            len(part.content) + 1000 + sum(_SHAPED * len(text.clusters) for text in part.shaped)
        )
    for image in images:
        total += len(image.pixels.data) + (len(image.mask.data) if image.mask else 0)
    return total
