"""The signer: `python -m workers.signer.main` starts one."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from shared.settings import SignerSettings, WrongSetting, read_settings
from shared.signer import SignatureOutcome
from shared.startup import start, stop_on_signals
from shared.telemetry import metrics
from shared.telemetry.metrics import Exporter
from shared.telemetry.probe import start_probe
from shared.telemetry.process import ProcessMetrics

if TYPE_CHECKING:
    from workers.signer.server import SignerServer

# Longer than a request may take, including its wait.
_STOP_SECONDS: Final = 25.0
_LIBRARIES: Final = ("pyhanko", "pyhanko_certvalidator", "pkcs11", "asn1crypto", "aiohttp")


def main() -> None:
    """Run until SIGTERM; exit with status 1 and one line on stderr if it cannot start."""
    signer = start("signer", lambda: read_settings(SignerSettings), _make)
    stop = Event()
    stop_on_signals(stop.set)
    signer.start()
    stop.wait()
    signer.stop(patience_seconds=_STOP_SECONDS)


def _make(settings: SignerSettings) -> SignerServer:
    signer = make_signer(settings)
    start_probe(
        settings.signer_metrics_port, signer.metrics.exposition, address=settings.metrics_address
    )
    return signer


def make_signer(settings: SignerSettings) -> SignerServer:
    """Return a signer that listens without serving requests yet.

    Raises:
        WrongSetting: there is no folder of certificates, the URL of time stamps is not one, or the
            extra `sign` is not installed.
        OSError: the address of `signer_bind` cannot be listened on.
    """
    folder = Path(settings.signer_certificates)
    if not settings.signer_certificates or not folder.is_dir():
        raise WrongSetting(
            "PRESSROOM_SIGNER_CERTIFICATES: the signer needs a folder with the certificates of "
            "accounts, ACCOUNT_ID.NAME.p12 or ACCOUNT_ID.NAME.toml"
        )
    try:
        from workers.signer.server import SignerServer
        from workers.signer.service import Certificates, SigningService
        from workers.signer.signing import SigningFailedError, check_timestamp_url
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _LIBRARIES:
            raise
        raise WrongSetting("the signer needs pyHanko: .venv/bin/pip install '.[sign]'") from error
    url = settings.signer_timestamp_url or None
    if url is not None:
        try:
            check_timestamp_url(url)
        except SigningFailedError as error:
            raise WrongSetting(f"PRESSROOM_SIGNER_TIMESTAMP_URL: {error}") from error
    certificates = Certificates(folder)
    counted = ProcessMetrics(
        Exporter.SIGNER,
        {metrics.CERTIFICATES_ENDING: certificates.count_ending},
        labels={metrics.SIGNATURES: SignatureOutcome},
    )
    signing = SigningService(certificates, counted, timestamp_url=url)
    host, _, port = settings.signer_bind.rpartition(":")
    return SignerServer((host, int(port)), signing, counted)


if __name__ == "__main__":
    main()
