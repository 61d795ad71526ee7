"""A farm on PostgreSQL and S3, and Chromium, started for these tests alone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from deploy.embedded.demo.show import LaunchedFarm, launched_farm

TYPES = Path(__file__).parents[2] / "deploy/types"
OPERATOR_KEY = "operator-key-of-32-letters-or-more"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.services)


@pytest.fixture(scope="session")
def farm(tmp_path_factory, make_postgresql, rclone_url) -> Iterator[LaunchedFarm]:
    """Run one farm on PostgreSQL and S3 for all tests of this folder."""
    environment = {
        "PRESSROOM_DATABASE_URL": make_postgresql(),
        "PRESSROOM_BLOB_URL": f"{rclone_url}/farm",
        "PRESSROOM_ADMIN_KEYS": OPERATOR_KEY,
    }
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


@pytest.fixture(scope="session")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install Grafana's and KEDA's schemas, pinned by digest; return the folder."""
    folder = tmp_path_factory.mktemp("types")
    for file in TYPES.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(npm, cwd=folder, check=True, timeout=300)
    return folder


@pytest.fixture(scope="session")
def pdfjs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install pdf.js, pinned by digest, and return the folder of its modules."""
    folder = tmp_path_factory.mktemp("pdfjs")
    for file in Path(__file__).with_name("pdfjs").iterdir():
        shutil.copy(file, folder)
    npm = [
        "npm",
        "ci",
        "--ignore-scripts",
        "--omit=optional",
        "--no-audit",
        "--no-fund",
        "--silent",
    ]
    subprocess.run(npm, cwd=folder, check=True, timeout=300)
    return folder / "node_modules" / "pdfjs-dist" / "legacy" / "build"


@pytest.fixture(scope="session")
def browsers() -> Iterator[Playwright]:
    """Run the driver of browsers, one for all tests of a process."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(browsers: Playwright) -> Iterator[Browser]:
    """Run the browser from its package; missing is a failure, never a skip."""
    yield from launch_chromium(browsers)


@pytest.fixture(scope="session")
def viewing_chromium(browsers: Playwright) -> Iterator[Browser]:
    """Run the browser with its viewer of PDFs, which the older headless mode has not."""
    yield from launch_chromium(browsers, "--headless=new", headless=False)


def launch_chromium(
    browsers: Playwright, *arguments: str, headless: bool = True
) -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("chromium is missing; run: apt-get install chromium")
    given = [*arguments, "--disable-dev-shm-usage"]
    given += ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = browsers.chromium.launch(executable_path=path, args=given, headless=headless)
    yield browser
    browser.close()


def await_port(port: int, process: subprocess.Popen[bytes], *, said: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"the server does not start:\n{said.read_text(errors='replace')}")
