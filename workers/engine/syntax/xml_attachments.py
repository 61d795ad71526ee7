"""The check of attached XML files for well-formedness."""

from __future__ import annotations

from xml.parsers import expat

from workers.engine.memory import check_memory


class NotWellFormedError(Exception):
    """An XML text is not well-formed; the message has line, column and reason."""


class _DeclarationFound(Exception):
    """Stops parsing at a document type declaration."""


def check_well_formed(content: bytes) -> None:
    """Parse an XML text; one with a document type declaration is checked up to the declaration.

    Raises:
        NotWellFormedError: the text is not well-formed.
    """
    reader = _WellFormednessParser()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        check_memory(error)
        reason = expat.ErrorString(error.code)
        raise NotWellFormedError(
            f"line {error.lineno}, column {error.offset + 1}: {reason}"
        ) from None
    except _DeclarationFound:
        return
    finally:
        del reader.parser  # breaks the reference cycle through its handler


class _WellFormednessParser:
    """Parses an XML text and discards its content."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._declaration

    def _declaration(self, *_: object) -> None:
        raise _DeclarationFound
