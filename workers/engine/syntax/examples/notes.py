"""The examples of notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NOTES: Final = """
<document lang="en-GB">
  <style name="footnote-call" color="#00539c"/>
  <page size="130mm 62mm" margin="6mm"/>
  <flow>
    <p>Interest is limited by law.<footnote>Act 1977, s. 2.</footnote> It runs from the due
      date<footnote>In trade between merchants from the day of the invoice.</footnote> and ends with
      the payment.</p>
  </flow>
</document>
"""

_ENDNOTES: Final = """
<document lang="en-GB">
  <style element="footnote" number="i"/>
  <page size="130mm 62mm" margin="6mm"/>
  <flow>
    <h3>Interest</h3>
    <p>Interest is limited by law.<footnote>Act 1977, s. 2.</footnote> It runs from the due
      date<footnote>In trade between merchants from the day of the invoice.</footnote>.</p>
    <h4>Notes</h4>
    <endnotes/>
  </flow>
</document>
"""

NOTE_EXAMPLES: Final[Mapping[str, str]] = {
    "footnote": _NOTES.strip(),
    "endnotes": _ENDNOTES.strip(),
}
