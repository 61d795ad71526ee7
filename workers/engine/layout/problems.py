"""What an image or a bar code answers when it cannot be drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a thing cannot be drawn; layout adds the element. `code` is the finding's stable name.

    `advice` says what to do where that depends on what is wrong.
    """

    code: str
    text: str
    advice: str = ""
