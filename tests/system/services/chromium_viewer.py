"""The PDF viewer that Chromium has built in: forms filled in by mouse and keyboard, and saved."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any

import pikepdf
from playwright.sync_api import Browser, Frame, Page

from tests.engine.paint.pdfium_forms import read_by_pdfium
from tests.servers import Server
from tests.waiting import wait_until

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: %d\r\n\r\n"
PIXELS_PER_POINT = 96 / 72  # at 100 %
# What the button of the viewer saves once something was typed; the dialog for a file is left out.
SAVE = """async () => {
  const { dataToSave } = await viewer.pluginController_.save("EDITED");
  return btoa(String.fromCharCode(...new Uint8Array(dataToSave)));
}"""
BESIDE = (20.0, 400.0)  # points, outside all fields
PLACE = """() => {
  const frame = viewer.shadowRoot.querySelector("#content, #plugin, embed").getBoundingClientRect();
  const page = viewer.viewport.getPageScreenRect(0);
  return [frame.x + page.x, frame.y + page.y, page.width];
}"""


class Viewer:
    """A form of one page, shown in the viewer."""

    def __init__(self, browser: Browser, form: bytes) -> None:
        self._page: Page = browser.new_page(viewport={"width": 900, "height": 1000})
        # The viewer takes the answer of a server; what a route fulfils is downloaded.
        with Server(HEAD % len(form) + form) as server:
            self._page.goto(server.url("/form.pdf"))
            self._frame = self._await_frame()
        self._places = _places_of(form)

    def fill(self, values: Mapping[str, str]) -> None:
        """Type texts, the first of all, press boxes and the button with a value, and choose the first option."""
        for name, kind, export, at in self._places:
            if name not in values:
                continue
            if kind == "/Btn":
                if export == values[name]:
                    self._click(at)
                continue
            if kind == "/Ch":
                self._choose(name, at)
            else:
                self._type(name, at, values[name])

    def save(self) -> bytes:
        """Return the file as the viewer saves it."""
        return base64.b64decode(self._frame.evaluate(SAVE))

    def picture(self) -> bytes:
        """Return what is seen."""
        return self._page.screenshot()

    def close(self) -> None:
        self._page.close()

    def _await_frame(self) -> Frame:
        def find() -> Frame | None:
            self._page.title()  # lets the browser's events come in
            frames = [one for one in self._page.frames if one.url.startswith("chrome-extension:")]
            loaded = "typeof viewer === 'object' && viewer.loadState_ === 'success'"
            return frames[0] if frames and frames[0].evaluate(loaded) else None

        return wait_until(find)

    def _type(self, name: str, at: tuple[float, float], text: str) -> None:
        """Type until the text is there: the viewer takes no keys at first."""

        def is_typed() -> bool:
            self._click(at)
            self._page.keyboard.press("Control+a")
            for number, line in enumerate(text.split("\n")):
                if number:
                    self._page.keyboard.press("Enter")
                self._page.keyboard.type(line)
            self._click(BESIDE)  # a value is taken when its field is left
            return read_by_pdfium(self.save())[name].replace("\r\n", "\n") == text

        wait_until(is_typed)

    def _choose(self, name: str, at: tuple[float, float]) -> None:
        """Choose the option below the empty one until it is taken, for the same reason."""

        def is_chosen() -> bool:
            self._click(at)
            self._page.keyboard.press("ArrowDown")
            self._page.keyboard.press("Enter")
            self._click(BESIDE)
            return bool(read_by_pdfium(self.save())[name])

        wait_until(is_chosen)

    def _click(self, at: tuple[float, float]) -> None:
        left, top, _ = self._frame.evaluate(PLACE)
        self._page.mouse.click(left + at[0] * PIXELS_PER_POINT, top + at[1] * PIXELS_PER_POINT)


def _places_of(form: bytes) -> list[tuple[str, str, str, tuple[float, float]]]:
    """Return name, type, value if pressed and middle of each field, in points from the top left."""
    places = []
    with pikepdf.open(io.BytesIO(form)) as pdf:
        height = float(pdf.pages[0].MediaBox[3])
        for widget in pdf.pages[0].Annots:
            field: Any = widget if "/FT" in widget else widget.Parent
            states = set(widget.AP.N.keys()) - {"/Off"} if field.FT == "/Btn" else {"/"}
            left, bottom, right, top = map(float, widget.Rect)
            at = (left + right) / 2, height - (bottom + top) / 2
            places.append((str(field.T), str(field.FT), states.pop()[1:], at))
    return places
