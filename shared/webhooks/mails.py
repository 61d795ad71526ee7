"""Mails that have a file attached, or a link to it, and are written from patterns with values of its record."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from html import escape
from secrets import token_hex
from typing import Final

from shared.batches.plans import MAX_VALUE_LENGTH, Value
from shared.clock import now
from shared.webhooks.destinations import PLACEHOLDER, Mail, Upload

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}"
_LABEL: Final = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(rf"{_ATOM}(\.{_ATOM}){{0,9}}@({_LABEL}\.)+{_LABEL}")
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MAX_LINE: Final = 300  # characters of a subject, and of a name of a file
_POLICY: Final = policy.SMTP.clone(cte_type="7bit")  # for servers without 8BITMIME


def check_address(text: str) -> str:
    """Return an address.

    Raises:
        ValueError: it is none.
    """
    # A value that long may have been cut, to the address of somebody else.
    if len(text) >= MAX_VALUE_LENGTH or not _ADDRESS.fullmatch(text):
        raise ValueError(
            f"{text[:100]!r} is not accepted as an address; accepted are such as ada@example.org, of up to "
            f"{MAX_VALUE_LENGTH - 1} ASCII characters"
        )
    return text


def compose(mail: Mail, item: Upload) -> EmailMessage:
    """Return the mail of a file; it has the same Message-ID in each attempt.

    Raises:
        ValueError: the record lacks a value, or has a recipient that is none.
    """
    name, sender = parseaddr(mail.sender)
    message = EmailMessage(policy=_POLICY)
    message["From"] = Address(name, addr_spec=sender)
    values, file = item.source.values, posixpath.basename(item.name)
    if values is None:
        recipient, subject = mail.report_to or sender, file
        text = f"Pressroom sends {file}."
    else:
        recipient = check_address(_fill(mail.recipient, values).strip(" "))
        subject, text = _fill(mail.subject, values), _fill(mail.text, values)
        file = name_attachment(mail, file, values)
    message["To"] = Address(addr_spec=recipient)
    message["Subject"] = _make_line(subject)
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{item.id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_CONTROLS.sub("", text))
    if mail.markdown and values is not None:
        html = write_html(mail.text, values)
        message.add_alternative(_CONTROLS.sub("", html), subtype="html")
    if is_attached(mail, item):
        main, _, sub = item.source.media_type.partition("/")
        message.add_attachment(item.file.read(), maintype=main, subtype=sub, filename=file)
    return message


def is_attached(mail: Mail, item: Upload) -> bool:
    """Return whether a mail has its file attached: reports have no link."""
    return mail.link_hours is None or item.source.values is None


def name_attachment(mail: Mail, name: str, values: Mapping[str, Value]) -> str:
    """Return the name of a file in a mail; `name` is that at its destination.

    Raises:
        ValueError: the record lacks a value.
    """
    file = posixpath.basename(name)
    if not mail.attachment:
        return file
    line = _make_line(_fill(mail.attachment, values))
    return re.sub(r"[/\\]", "_", line) + posixpath.splitext(file)[1]


def write_html(pattern: str, values: Mapping[str, Value]) -> str:
    """Return a pattern of Markdown as HTML; its values, and HTML in it, are text, never markup.

    Raises:
        ValueError: the record lacks a value.
    """
    from mistune import HTMLRenderer, create_markdown

    mark = f"x{token_hex(8)}x"  # cannot be in a value
    names = PLACEHOLDER.findall(pattern)
    shown = {f"{mark}{at}x": _fill(f"{{{name}}}", values) for at, name in enumerate(names)}
    marks = iter(shown)
    marked = re.compile(f"{mark}[0-9]+x")

    class Renderer(HTMLRenderer):
        def sanitize_url(self, url: str) -> str:
            """Judge an address with its values."""
            return super().sanitize_url(marked.sub(lambda found: shown[found[0]], url))

    render = create_markdown(renderer=Renderer(escape=True))
    text = str(render(PLACEHOLDER.sub(lambda _: next(marks), pattern)))
    return marked.sub(lambda found: escape(shown[found[0]]), text)


def _make_line(text: str) -> str:
    return _BREAKS.sub(" ", text)[:_MAX_LINE].strip()


def _fill(pattern: str, values: Mapping[str, Value]) -> str:
    """Return a pattern with its values.

    Raises:
        ValueError: one is missing or empty.
    """

    def write(found: re.Match[str]) -> str:
        value = values.get(found[1])
        if value is None or value == "":
            raise ValueError(f"the document has no value for {{{found[1]}}}")
        return str(value).lower() if isinstance(value, bool) else str(value)

    return PLACEHOLDER.sub(write, pattern)
