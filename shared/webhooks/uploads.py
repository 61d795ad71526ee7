"""Uploads to destinations of accounts, by S3, SFTP, HTTPS and SMTP, over checked connections alone."""

from __future__ import annotations

import posixpath
import re
import smtplib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import timedelta
from email.message import EmailMessage
from email.utils import parseaddr
from io import StringIO
from socket import socket
from threading import BoundedSemaphore, Timer
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from shared.errors import ServiceError
from shared.limits import MB
from shared.outbound.client import PostResult
from shared.outbound.connections import limit_socket, tls_context
from shared.outbound.targets import (
    TargetRefusedError,
    TargetUnreachableError,
    is_private,
    parse_target,
)
from shared.webhooks.destinations import (
    PLACEHOLDER,
    Address,
    DestinationKind,
    DestinationRequest,
    FileForm,
    Upload,
)
from shared.webhooks.mails import check_address, compose, is_attached

if TYPE_CHECKING:  # loaded with the first upload by SFTP
    from paramiko import PKey, SFTPClient, Transport

_PLACEHOLDERS: Final = frozenset(("job", "batch", "index", "date", "key"))
_OF_LINKS: Final = frozenset(("link", "expires"))
_RECORD_PATH: Final = re.compile(r"record(\.[^.\x00-\x1f]{1,100}){1,10}")
_MAX_PATHS: Final = 30
_MAX_MAIL_BYTES: Final = 10 * MB  # servers accept 20 to 35 MB, in which a file has a third more
_LARGE_MAILS: Final = BoundedSemaphore(4)  # each is in memory about six times
_HOST_KEY: Final = re.compile(r"(ssh-|ecdsa-sha2-)[a-z0-9-]{3,40} [A-Za-z0-9+/]{40,2000}={0,2}\Z")
# The names of the algorithms that an RSA host key signs with (RFC 8332).
_RSA: Final = ("rsa-sha2-512", "rsa-sha2-256")


_SCHEMES: Final = {
    "s3": (DestinationKind.S3, 443),
    "s3+http": (DestinationKind.S3, 80),
    "sftp": (DestinationKind.SFTP, 22),
    "https": (DestinationKind.HTTPS, 443),
    "smtp": (DestinationKind.SMTP, 587),
    "smtps": (DestinationKind.SMTP, 465),
    "smtp+plain": (DestinationKind.SMTP, 25),
}


def check_destination(settings: DestinationRequest) -> Address:
    """Check what the types of its fields do not say, and return the address of a destination.

    Raises:
        ServiceError: 400, with the field and what is accepted.
    """
    try:
        address = parse_address(settings.url)
        _check_name(settings.name)
        _check_kind(address.kind, settings)
        if address.kind is DestinationKind.S3:
            _sign_for_s3(address, settings.secret, "test")  # checks bucket and region
    except ValueError as error:
        raise ServiceError(400, f"Invalid destination: {error}.") from error
    return address


def _check_name(name: str) -> None:
    found = _check_pattern("name", name)
    if not {"job", "key"} & set(found) and not {"batch", "index"} <= set(found):
        raise ValueError(
            "name must contain {job}, {key}, or both {batch} and {index}: files of equal names "
            "replace each other"
        )


def _check_pattern(
    field: str, pattern: str, accepted: AbstractSet[str] = _PLACEHOLDERS, *, others: str = ""
) -> list[str]:
    """Return the placeholders of a pattern, which are those of names, or paths where `others` names them."""
    found: list[str] = PLACEHOLDER.findall(pattern)
    named = {each for each in found if not (others and _RECORD_PATH.fullmatch(each))}
    if not named <= accepted or set("{}") & set(PLACEHOLDER.sub("", pattern)):
        raise ValueError(f"in {field} {{…}} is one of {', '.join(sorted(accepted))}{others}")
    return found


def _check_mail(settings: DestinationRequest) -> None:
    if settings.mail is None:
        raise ValueError("mail is required, with sender, recipient, subject and text")
    if urlsplit(settings.url).username and not settings.secret:
        raise ValueError("secret is required, the password of the user")
    for field, pattern in settings.mail.patterns.items():
        has_link = field == "text" and settings.mail.link_hours is not None
        accepted = _PLACEHOLDERS | _OF_LINKS if has_link else _PLACEHOLDERS
        others = " or a path as record.customer.email"
        found = _check_pattern(f"mail.{field}", pattern, accepted, others=others)
        if has_link and "link" not in found:
            raise ValueError("mail.text must contain {link} with mail.link_hours")
    if len(settings.paths) > _MAX_PATHS:
        raise ValueError(f"mail names more than {_MAX_PATHS} values of the payload")
    check_address(parseaddr(settings.mail.sender)[1])
    if settings.mail.report_to is not None:
        check_address(settings.mail.report_to)
    if not PLACEHOLDER.search(settings.mail.recipient):
        check_address(settings.mail.recipient)


def _check_kind(kind: DestinationKind, settings: DestinationRequest) -> None:
    if kind is DestinationKind.SMTP:
        _check_mail(settings)
        if settings.file is not FileForm.PDF:
            raise ValueError("file is pdf with an url that begins with smtp or smtps")
    elif settings.mail is not None:
        raise ValueError("mail is accepted with an url that begins with smtp or smtps")
    if kind in (DestinationKind.S3, DestinationKind.SFTP) and not settings.secret:
        raise ValueError("secret is required")
    if kind is DestinationKind.HTTPS and not (settings.secret + " ").isprintable():
        raise ValueError("secret, sent as Authorization, must be one line")
    if kind is DestinationKind.SFTP and not _HOST_KEY.match(settings.host_key or ""):
        raise ValueError(
            "host_key is required, such as ssh-ed25519 AAAA…, as ssh-keyscan prints it"
        )


def parse_address(url: str) -> Address:
    """Parse the URL of a destination.

    Raises:
        ValueError: it is none; the message says why.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme not in _SCHEMES:
            raise ValueError(f"url must begin with one of {', '.join(_SCHEMES)}")
        if parts.password is not None:
            raise ValueError("the password in url belongs into the field secret")
        kind, port = _SCHEMES[parts.scheme]
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        host = parts.netloc.rpartition("@")[2]
        is_numbered = parts.port is not None
        target = parse_target(f"https://{host}{'' if is_numbered else f':{port}'}{path}")
    except TargetRefusedError as error:
        raise ValueError(f"url is not allowed: {error}") from error
    user = unquote(parts.username or "")
    if kind in (DestinationKind.S3, DestinationKind.SFTP) and not user:
        raise ValueError(f"url must have a user, as in {parts.scheme}://user@host/")
    if kind is DestinationKind.HTTPS and user:
        raise ValueError("url must have no user: the field secret is sent as Authorization")
    bucket, _, folder = parts.path.lstrip("/").partition("/")
    if kind is DestinationKind.S3 and not bucket:
        raise ValueError("url must have a bucket, as in s3://access-key@host/bucket/folder")
    return Address(
        kind,
        parts.scheme,
        target,
        user,
        bucket,
        (folder if kind is DestinationKind.S3 else parts.path).rstrip("/"),
        parse_qs(parts.query).get("region", ["us-east-1"])[0],
    )


def upload(item: Upload) -> PostResult:
    """Upload a file; a repeated upload of one name replaces it.

    Raises:
        TargetRefusedError: the host is not permitted.
        TargetUnreachableError: the upload failed; the message says why.
    """
    send = {
        DestinationKind.S3: _send_to_s3,
        DestinationKind.SFTP: _send_by_sftp,
        DestinationKind.HTTPS: _send_by_https,
        DestinationKind.SMTP: _send_by_smtp,
    }[item.address.kind]
    try:
        return send(item)
    except ValueError as error:
        raise TargetUnreachableError(f"a setting is not accepted: {error}") from error


def _load_private_key(text: str) -> PKey:
    import paramiko

    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        with suppress(paramiko.SSHException, ValueError, IndexError):
            return kind.from_private_key(StringIO(text))
    raise ValueError("the secret is no private key without a passphrase")


def _sign_for_s3(address: Address, secret: str, name: str) -> str:
    from minio import Minio

    client = Minio(
        f"{address.target.host}:{address.target.port}",
        access_key=address.user,
        secret_key=secret,
        secure=address.scheme == "s3",
        region=address.region,
    )
    key = posixpath.join(address.folder, name)
    return client.presigned_put_object(address.bucket, key, expires=timedelta(hours=1))


def _send_to_s3(item: Upload) -> PostResult:
    # Signed here and sent by the guarded way out, which the client's own connections would go around.
    url = _sign_for_s3(item.address, item.settings.secret, item.name)
    return _put(item, url, {})


def _send_by_https(item: Upload) -> PostResult:
    target = item.address.target
    path, _, query = target.path.partition("?")
    url = f"https://{target.host}:{target.port}{path.rstrip('/')}/{quote(item.name)}"
    headers = {"Idempotency-Key": item.id}
    if item.settings.secret:
        headers["Authorization"] = item.settings.secret
    return _put(item, f"{url}?{query}" if query else url, headers)


def _put(item: Upload, url: str, headers: dict[str, str]) -> PostResult:
    described = {"Content-Type": item.source.media_type, "Content-Length": str(item.source.size)}
    return item.outbound.post(
        url,
        body=item.file,
        headers={**described, **headers},
        deadline_seconds=item.seconds_left,
        method="PUT",
    )


def _send_by_sftp(item: Upload) -> PostResult:
    """Upload under a temporary name, then rename: readers never see a part of a file."""
    path = posixpath.join(f"{item.address.folder}/".removeprefix("/~/"), item.name)
    folder = posixpath.dirname(path)
    temporary = posixpath.join(folder, f".{item.id}.part")
    with _open_sftp(item) as sftp:
        _make_folders(sftp, folder)
        sftp.putfo(item.file, temporary, file_size=item.source.size)
        try:
            sftp.posix_rename(temporary, path)
        except OSError:  # a server without OpenSSH's extension, whose rename replaces nothing
            with suppress(OSError):
                sftp.remove(path)
            sftp.rename(temporary, path)
    return PostResult(200)


@contextmanager
def _open_sftp(item: Upload) -> Iterator[SFTPClient]:
    import paramiko

    sock = item.outbound.connect(item.address.target, give_up_at=item.give_up_at)
    transport = paramiko.Transport(sock)
    alarm = Timer(item.seconds_left, transport.close)
    alarm.daemon = True
    alarm.start()
    try:
        _authenticate(transport, item.address.user, item.settings)
        with paramiko.SFTPClient.from_transport(transport) as sftp:
            yield sftp
    except paramiko.AuthenticationException:
        raise TargetUnreachableError("its server does not accept the user and the secret") from None
    except (paramiko.SSHException, EOFError, OSError) as error:
        raise _unreachable(item, error) from error
    finally:
        alarm.cancel()
        transport.close()


def _authenticate(transport: Transport, user: str, settings: DestinationRequest) -> None:
    kind, key = (settings.host_key or "").split()[:2]
    accepted = _RSA if kind == "ssh-rsa" else (kind,)
    # Of several keys the server shows the one that is asked for.
    transport.get_security_options().key_types = accepted
    transport.start_client(timeout=10)
    shown = transport.get_remote_server_key()
    if shown.get_base64() != key:
        raise TargetUnreachableError(
            f"its server has another host key: {shown.get_name()} {shown.get_base64()}"
        )
    if settings.secret.startswith("-----BEGIN"):
        transport.auth_publickey(user, _load_private_key(settings.secret))
    else:
        transport.auth_password(user, settings.secret)


def _unreachable(item: Upload, error: Exception) -> TargetUnreachableError:
    late = "its server did not respond in time"
    why = f"its server refuses: {str(error)[:200]}" if item.seconds_left else late
    return TargetUnreachableError(why)


def _send_by_smtp(item: Upload) -> PostResult:
    """Send a mail; what its record lacks, or the server refuses for good, is final."""
    mail = item.settings.mail
    assert mail is not None
    has_file = is_attached(mail, item)
    if has_file and item.source.size > _MAX_MAIL_BYTES:
        why = f"the file has more than {_MAX_MAIL_BYTES:,} bytes, the limit of mails"
        return PostResult(0, is_final=True, text=why)
    with _LARGE_MAILS if has_file and item.source.size >= MB else nullcontext():
        try:
            message = compose(mail, item)
        except ValueError as error:
            return PostResult(0, is_final=True, text=str(error))
        return _send_mail(item, message)


def _send_mail(item: Upload, message: EmailMessage) -> PostResult:
    sender, recipient = (message[name].addresses[0] for name in ("From", "To"))
    words: bytes | str
    try:
        with closing(_SmtpClient(item, sender.domain)) as client:
            if item.address.scheme == "smtp":
                client.starttls(context=tls_context())
                limit_socket(client.sock, give_up_at=item.give_up_at, limit_bytes=MB)
            if item.address.user:
                client.login(item.address.user, item.settings.secret)
            client.sendmail(sender.addr_spec, [recipient.addr_spec], message.as_bytes())
            with suppress(OSError):  # the mail has been accepted
                client.quit()
        return PostResult(250)
    except smtplib.SMTPRecipientsRefused as error:
        code, words = error.recipients[recipient.addr_spec]
    except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
        code, words = error.smtp_code, error.smtp_error
    except OSError as error:  # as all others of smtplib are
        raise _unreachable(item, error) from error
    said = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return PostResult(code, is_final=code >= 500, text=" ".join(said.split())[:500])


class _SmtpClient(smtplib.SMTP):
    """A client of a mail server over a checked connection; `name` is what it calls itself."""

    def __init__(self, item: Upload, name: str) -> None:
        self._item = item
        target = item.address.target
        super().__init__(target.host, target.port, local_hostname=name)

    def _get_socket(self, *_: Any) -> socket:
        address, give_up_at = self._item.address, self._item.give_up_at
        sock = self._item.outbound.connect(address.target, give_up_at=give_up_at)
        if address.scheme == "smtps":
            sock = tls_context().wrap_socket(sock, server_hostname=address.target.host)
        elif address.scheme == "smtp+plain" and not is_private(sock.getpeername()[0]):
            sock.close()
            raise TargetUnreachableError("smtp+plain is for private addresses: use smtp or smtps")
        limit_socket(sock, give_up_at=give_up_at, limit_bytes=MB)
        return sock


def _make_folders(sftp: SFTPClient, folder: str) -> None:
    try:
        if folder:
            sftp.stat(folder)
    except OSError:
        _make_folders(sftp, posixpath.dirname(folder))
        with suppress(OSError):  # another upload made it
            sftp.mkdir(folder)
