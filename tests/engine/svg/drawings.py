"""Drawings for the tests of SVG: short to write, seen as pixels or as operators."""

from __future__ import annotations

from PIL import Image

from tests.engine.paint.drawing import OWNER, page, printed, rendered
from workers.engine.layout.context import ContentProblem
from workers.engine.layout.display import Picture
from workers.engine.layout.pictures import prepare_image
from workers.engine.svg.canvas import VectorImage

NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
WHITE, BLACK, RED = (255, 255, 255), (0, 0, 0), (255, 0, 0)
GREEN, BLUE = (0, 128, 0), (0, 0, 255)


def svg(content: str, attributes: str = 'width="100" height="100"') -> bytes:
    """Return a drawing, of 100 by 100 units by default."""
    return f"<svg {NAMESPACES} {attributes}>{content}</svg>".encode()


def converted(data: bytes) -> VectorImage:
    image = prepare_image(data)
    assert isinstance(image, VectorImage), image
    return image


def refused(data: bytes) -> str:
    problem = prepare_image(data)
    assert isinstance(problem, ContentProblem), "a wrong drawing was taken"
    return problem.text


def file_of(data: bytes) -> bytes:
    """Return a PDF with the drawing on a page of 100 by 100 points."""
    return printed(page(Picture(0, 0, 100, 100, converted(data), OWNER)))


def seen(content: str, *places: tuple[int, int], attributes: str | None = None) -> list:
    """Return the colours at places of a drawing rasterised at one pixel a unit."""
    data = svg(content) if attributes is None else svg(content, attributes)
    image: Image.Image = rendered(file_of(data))
    return [image.getpixel(place) for place in places]
