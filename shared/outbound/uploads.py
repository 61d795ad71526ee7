"""Uploads to destinations of accounts, by S3, SFTP, HTTPS and SMTP, over checked connections alone."""

from __future__ import annotations

import posixpath
import smtplib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from email.utils import formatdate
from io import StringIO
from threading import Timer
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from shared.clock import ticks
from shared.limits import MB
from shared.outbound.client import Outbound, PostResult
from shared.outbound.connections import start_tls
from shared.outbound.targets import (
    Target,
    TargetRefusedError,
    TargetUnreachableError,
    parse_target,
)

if TYPE_CHECKING:  # loaded with the first upload by SFTP
    from paramiko import PKey, SFTPClient, Transport

_MAX_ATTACHMENT: Final = 25 * MB  # what most mail servers accept
_HTTPS: Final = 443
_FIRST_FINAL_REPLY: Final = 500  # of SMTP: replies from here on are permanent (RFC 5321, 4.2.1)
# The names of the algorithms that an RSA host key signs with (RFC 8332).
_RSA: Final = ("rsa-sha2-512", "rsa-sha2-256")


S3: Final = "s3"
SFTP: Final = "sftp"
HTTPS: Final = "https"
SMTP: Final = "smtp"
_SCHEMES: Final = {
    "s3": (S3, _HTTPS),
    "s3+http": (S3, 80),
    "sftp": (SFTP, 22),
    "https": (HTTPS, _HTTPS),
    "smtp": (SMTP, 587),  # STARTTLS is required
    "smtps": (SMTP, 465),
}


@dataclass(frozen=True, slots=True)
class Address:
    """The parsed URL of a destination. `folder` is its path, after the bucket of S3."""

    kind: str
    scheme: str
    target: Target
    user: str
    bucket: str
    folder: str
    region: str

    @property
    def checked_url(self) -> str:
        """The URL whose host is checked before the destination is stored."""
        return self.target.url


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how files are uploaded: a URL, its secret, and what SFTP and SMTP need besides."""

    url: str
    secret: str
    host_key: str | None = None
    sender: str | None = None
    subject: str | None = None

    def __repr__(self) -> str:
        """Hide the secret from logs and tracebacks."""
        return f"Endpoint(url={self.url!r})"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to be uploaded under a name with folders. `id` is the same in each attempt."""

    id: str
    name: str
    file: BinaryIO
    size: int
    media_type: str
    recipient: str | None = None


def parse_address(url: str) -> Address:
    """Parse the URL of a destination.

    Raises:
        ValueError: it is none; the message says why.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme not in _SCHEMES:
            raise ValueError(f"its scheme must be one of {', '.join(_SCHEMES)}")
        if parts.password is not None:
            raise ValueError("its password belongs into the field secret")
        kind, port = _SCHEMES[parts.scheme]
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        host = parts.netloc.rpartition("@")[2]
        is_numbered = parts.port is not None
        target = parse_target(f"https://{host}{'' if is_numbered else f':{port}'}{path}")
    except TargetRefusedError as error:
        raise ValueError(str(error)) from error
    user = unquote(parts.username or "")
    if kind in (S3, SFTP) and not user:
        raise ValueError(f"it must have a user, as in {parts.scheme}://user@host/")
    if kind is HTTPS and user:
        raise ValueError("it must have no user: the field secret is sent as Authorization")
    bucket, _, folder = parts.path.lstrip("/").partition("/")
    if kind is S3 and not bucket:
        raise ValueError("it must have a bucket, as in s3://access-key@host/bucket/folder")
    return Address(
        kind,
        parts.scheme,
        target,
        user,
        bucket,
        (folder if kind is S3 else parts.path).rstrip("/"),
        _read_region(parts),
    )


def upload(
    outbound: Outbound, endpoint: Endpoint, item: Upload, *, deadline_seconds: float
) -> PostResult:
    """Upload a file; a repeated upload of one name replaces it, except by e-mail.

    Raises:
        TargetRefusedError: the host is not permitted.
        TargetUnreachableError: the upload failed; the message says why.
    """
    address = parse_address(endpoint.url)
    send = {
        S3: _send_to_s3,
        SFTP: _send_by_sftp,
        HTTPS: _send_by_https,
        SMTP: _send_by_smtp,
    }[address.kind]
    try:
        return send(outbound, address, endpoint, item, ticks() + deadline_seconds)
    except ValueError as error:
        raise TargetUnreachableError(f"a setting is not accepted: {error}") from error


def load_private_key(text: str) -> PKey:
    """Read a private key in PEM or OpenSSH's format, without a passphrase.

    Raises:
        ValueError: it is none.
    """
    import paramiko

    for kind in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        with suppress(paramiko.SSHException, ValueError, IndexError):
            return kind.from_private_key(StringIO(text))
    raise ValueError("it is no private key of Ed25519, ECDSA or RSA without a passphrase")


def _send_to_s3(
    outbound: Outbound, address: Address, endpoint: Endpoint, item: Upload, give_up_at: float
) -> PostResult:
    from minio import Minio

    # Signed here and sent by the guarded way out, which the client's own connections would go around.
    client = Minio(
        f"{address.target.host}:{address.target.port}",
        access_key=address.user,
        secret_key=endpoint.secret,
        secure=address.scheme == "s3",
        region=address.region,
    )
    key = posixpath.join(address.folder, item.name)
    url = client.presigned_put_object(address.bucket, key, expires=timedelta(hours=1))
    return _put(outbound, url, item, {}, give_up_at)


def _send_by_https(
    outbound: Outbound, address: Address, endpoint: Endpoint, item: Upload, give_up_at: float
) -> PostResult:
    path, _, query = address.target.path.partition("?")
    url = (
        f"https://{address.target.host}:{address.target.port}{path.rstrip('/')}/{quote(item.name)}"
    )
    headers = {"Idempotency-Key": item.id}
    if endpoint.secret:
        headers["Authorization"] = endpoint.secret
    return _put(outbound, f"{url}?{query}" if query else url, item, headers, give_up_at)


def _put(
    outbound: Outbound, url: str, item: Upload, headers: dict[str, str], give_up_at: float
) -> PostResult:
    described = {"Content-Type": item.media_type, "Content-Length": str(item.size)}
    return outbound.post(
        url,
        body=item.file,
        headers={**described, **headers},
        deadline_seconds=max(give_up_at - ticks(), 0),
        method="PUT",
    )


def _send_by_sftp(
    outbound: Outbound, address: Address, endpoint: Endpoint, item: Upload, give_up_at: float
) -> PostResult:
    """Upload under a temporary name, then rename: readers never see a part of a file."""
    path = posixpath.join(f"{address.folder}/".removeprefix("/~/"), item.name)
    folder = posixpath.dirname(path)
    temporary = posixpath.join(folder, f".{item.id}.part")
    with _open_sftp(outbound, address, endpoint, give_up_at) as sftp:
        _make_folders(sftp, folder)
        sftp.putfo(item.file, temporary, file_size=item.size)
        try:
            sftp.posix_rename(temporary, path)
        except OSError:  # a server without OpenSSH's extension, whose rename replaces nothing
            with suppress(OSError):
                sftp.remove(path)
            sftp.rename(temporary, path)
    return PostResult(200)


@contextmanager
def _open_sftp(
    outbound: Outbound, address: Address, endpoint: Endpoint, give_up_at: float
) -> Iterator[SFTPClient]:
    import paramiko

    sock = outbound.connect(address.target, give_up_at=give_up_at)
    transport = paramiko.Transport(sock)
    alarm = Timer(max(give_up_at - ticks(), 0), transport.close)
    alarm.daemon = True
    alarm.start()
    try:
        _authenticate(transport, address, endpoint)
        with paramiko.SFTPClient.from_transport(transport) as sftp:
            yield sftp
    except paramiko.AuthenticationException:
        raise TargetUnreachableError("its server does not accept the user and the secret") from None
    except (paramiko.SSHException, EOFError, OSError) as error:
        late = "its server did not respond in time"
        why = late if ticks() >= give_up_at else f"its server refuses: {str(error)[:200]}"
        raise TargetUnreachableError(why) from error
    finally:
        alarm.cancel()
        transport.close()


def _authenticate(transport: Transport, address: Address, endpoint: Endpoint) -> None:
    kind, key = (endpoint.host_key or "").split()[:2]
    accepted = _RSA if kind == "ssh-rsa" else (kind,)
    # Of several keys the server shows the one that is asked for.
    transport.get_security_options().key_types = accepted
    transport.start_client(timeout=10)
    shown = transport.get_remote_server_key()
    if shown.get_base64() != key:
        raise TargetUnreachableError(
            f"its server has another host key: {shown.get_name()} {shown.get_base64()}"
        )
    if endpoint.secret.startswith("-----BEGIN"):
        transport.auth_publickey(address.user, load_private_key(endpoint.secret))
    else:
        transport.auth_password(address.user, endpoint.secret)


def _make_folders(sftp: SFTPClient, folder: str) -> None:
    try:
        if folder:
            sftp.stat(folder)
    except OSError:
        _make_folders(sftp, posixpath.dirname(folder))
        with suppress(OSError):  # another upload made it
            sftp.mkdir(folder)


def _send_by_smtp(
    outbound: Outbound, address: Address, endpoint: Endpoint, item: Upload, give_up_at: float
) -> PostResult:
    if item.size > _MAX_ATTACHMENT:
        return PostResult(552, is_final=True)
    message = _write_message(endpoint, item)
    sock: Any = outbound.connect(address.target, give_up_at=give_up_at)
    try:
        if address.scheme == "smtps":
            sock = start_tls(sock, address.target, give_up_at=give_up_at)
        client = smtplib.SMTP(local_hostname="pressroom")
        client.sock = sock
        _check_reply(*client.getreply())
        if address.scheme == "smtp":
            client.ehlo()
            _check_reply(*client.docmd("STARTTLS"))
            client.sock = sock = start_tls(sock, address.target, give_up_at=give_up_at)
            client.file = None  # what was received before TLS counts no more (RFC 3207, 4.2)
        client.ehlo()
        if endpoint.secret:
            client.login(address.user, endpoint.secret)
        client.send_message(message)
        with suppress(smtplib.SMTPException, OSError):  # it is accepted already
            client.quit()
    except smtplib.SMTPRecipientsRefused as error:
        [(code, _)] = error.recipients.values()
        return PostResult(code, is_final=code >= _FIRST_FINAL_REPLY)
    except smtplib.SMTPResponseException as error:
        is_of_message = isinstance(error, smtplib.SMTPDataError | smtplib.SMTPSenderRefused)
        code = error.smtp_code
        return PostResult(code, is_final=is_of_message and code >= _FIRST_FINAL_REPLY)
    except (smtplib.SMTPException, OSError) as error:
        late = "its server did not respond in time"
        why = late if ticks() >= give_up_at else f"its server refuses: {str(error)[:200]}"
        raise TargetUnreachableError(why) from error
    finally:
        sock.close()
    return PostResult(250)


def _check_reply(code: int, text: bytes) -> None:
    if code != 220:  # service ready, also of STARTTLS
        raise smtplib.SMTPConnectError(code, text)


def _write_message(endpoint: Endpoint, item: Upload) -> EmailMessage:
    sender = endpoint.sender or ""
    message = EmailMessage()
    message["From"], message["To"] = sender, item.recipient
    message["Subject"] = endpoint.subject or posixpath.basename(item.name)
    message["Date"] = formatdate()
    # The same in each attempt, by which receivers recognise a repeated one.
    message["Message-ID"] = f"<{item.id}@{sender.rpartition('@')[2].rstrip('>')}>"
    message.set_content(f"{posixpath.basename(item.name)} is attached.\n")
    main, _, sub = item.media_type.partition(";")[0].partition("/")
    message.add_attachment(
        item.file.read(item.size),
        maintype=main,
        subtype=sub,
        filename=posixpath.basename(item.name),
    )
    return message


def _read_region(parts: SplitResult) -> str:
    return parse_qs(parts.query).get("region", ["us-east-1"])[0]
