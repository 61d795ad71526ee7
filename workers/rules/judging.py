"""Invoices judged by rule packs: XSD by lxml, and compiled Schematron by SaxonC."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final

from lxml import etree

from workers.engine.einvoices import (
    MANIFEST,
    MAX_VIOLATIONS,
    InvoiceFacts,
    RulePack,
    RuleViolation,
    Severity,
    UnusablePackError,
    Verdict,
    choose_packs,
    describe_gap,
    find_builtin_packs,
    find_prefixes,
    find_schema_errors,
    read_packs,
)

_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_NAMED: Final = re.compile(r"\s*\[([A-Za-z0-9_/.-]+)\]\s*[-:]?\s*")
_STEP: Final = re.compile(r"\*:([\w.-]+)\[namespace-uri\(\)='([^']*)'\]|Q\{([^}]*)\}([\w.-]+)")
_WARNINGS: Final = ("warning", "warn", "information", "info")
_FEATURE: Final = "http://saxon.sf.net/feature/"
_MAX_COMPILED: Final = 16
_MESSAGE: Final = 500  # characters


def has_processor() -> bool:
    """Return whether the extra `rules` is installed."""
    return find_spec("saxonche") is not None


class Judge:
    """Judges invoices by the packs of a folder, and by those of installed packages."""

    def __init__(
        self, folder: str = "", guard: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        """Prepare without reading a pack; rules run within the `guard`."""
        self._guard = guard
        self._folder = Path(folder) if folder else None
        self._seen: Sequence[tuple[Path, float]] = ()
        self._own: list[RulePack] = []
        self.unusable: list[str] = []

    @property
    def packs(self) -> list[RulePack]:
        """The packs, those of the folder first; one replaces the later ones of its name."""
        self._reload()
        by_name: dict[str, RulePack] = {}
        for pack in (*self._own, *find_builtin_packs()):
            by_name.setdefault(pack.name, pack)
        return list(by_name.values())

    def _reload(self) -> None:
        if self._folder is None:
            return
        folders = sorted(one for one in self._folder.glob("[!.]*/"))
        seen = [(one, _read_change(one)) for one in folders]
        if seen == self._seen:
            return
        self._own, self.unusable, self._seen = [], [], seen
        for folder in folders:
            try:
                self._own += read_packs(folder)
            except UnusablePackError as error:
                self.unusable.append(str(error))

    def judge(self, content: bytes, facts: InvoiceFacts) -> Verdict:
        """Return what the packs say of an invoice; rules are run if its schema is kept.

        The XML has been read by `read_xml` before, so that it has no declarations and its size is limited.
        """
        packs, is_whole = choose_packs(self.packs, facts)
        prefixes = find_prefixes(facts.root)
        note = "" if is_whole else describe_gap(facts)
        for pack in packs:
            if schema := pack.find_schema(facts.root):
                errors = find_schema_errors(content, schema, prefixes)
                if errors:
                    return Verdict(tuple(errors), (pack.edition,))
        text = _decode(content)
        found: list[RuleViolation] = []
        for pack in packs:
            try:
                for name in pack.rules:
                    found += self._run(Path(pack.folder, name), text, pack.levels, prefixes)
            except UnusablePackError as error:
                note = f"the rules of {pack.name} ended with an error: {error}"
        return Verdict(tuple(found), tuple(one.edition for one in packs), note)

    def _run(
        self, rules: Path, text: str, levels: Mapping[str, Severity], prefixes: dict[str, str]
    ) -> Iterator[RuleViolation]:
        """Yield the first findings of a file of rules, at most 50 errors and 50 warnings.

        Raises:
            UnusablePackError: its rules cannot be run.
        """
        from saxonche import PySaxonApiError

        try:
            stylesheet = _compile(rules, rules.stat().st_mtime)
            invoice = _processor().parse_xml(xml_text=text)
            with self._guard():
                written = stylesheet.transform_to_string(xdm_node=invoice)
        except (OSError, PySaxonApiError) as error:
            raise UnusablePackError(" ".join(str(error).split())[:_MESSAGE]) from error
        report = etree.fromstring(written.encode(), etree.XMLParser(huge_tree=True))
        found = [
            _read(one, levels, prefixes)
            for one in report.iter(f"{_SVRL}failed-assert", f"{_SVRL}successful-report")
        ]
        for is_error in (True, False):
            yield from islice(
                (one for one in found if (one.severity == "error") is is_error), MAX_VIOLATIONS
            )


def _decode(content: bytes) -> str:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True
    )
    text: str = etree.tostring(etree.fromstring(content, parser), encoding="unicode")
    return text


def _read_change(folder: Path) -> float:
    """Return when a folder of packs was changed: unpacked anew, or given another manifest."""
    manifest = folder / MANIFEST
    return (manifest if manifest.is_file() else folder).stat().st_mtime


def _read(failed: Any, levels: Mapping[str, Severity], prefixes: dict[str, str]) -> RuleViolation:
    text = " ".join("".join(failed.itertext(f"{_SVRL}text", "{*}*")).split())
    named = _NAMED.match(text)
    flag = (failed.get("flag") or failed.get("role") or "").lower()
    rule = failed.get("id") or (named[1] if named else "rule")
    severity: Severity = "warning" if flag in _WARNINGS else "error"
    return RuleViolation(
        rule,
        "/",
        text[named.end() if named else 0 :][:_MESSAGE],
        _shorten(failed.get("location", ""), prefixes),
        levels.get(rule, severity),
    )


def _shorten(location: str, prefixes: dict[str, str]) -> str:
    """Return an XPath with prefixes in place of namespaces, without positions that say nothing."""

    def name(step: re.Match[str]) -> str:
        uri, local = (step[2], step[1]) if step[1] else (step[3], step[4])
        return f"{prefixes.get(f'{{{uri}}}', '*:')}{local}"

    return _STEP.sub(name, location).replace("[1]", "")


@contextmanager
def refuse_files() -> Iterator[None]:
    """Have the kernel refuse every file and connection of this process: its rules read the invoice alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@lru_cache(maxsize=1)
def _processor() -> Any:
    import saxonche

    processor = saxonche.PySaxonProcessor(license=False)
    # Files that rules name are read when they are compiled.
    processor.set_configuration_property(f"{_FEATURE}preEvaluateDocFunction", "true")
    processor.set_configuration_property(f"{_FEATURE}allowedProtocols", "file")
    return processor


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(rules: Path, _: float) -> Any:
    return _processor().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(rules))
