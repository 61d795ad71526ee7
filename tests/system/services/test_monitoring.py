"""The real Prometheus over a loaded farm: targets, rules, alerts, and every query of a dashboard."""

import json
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from deploy.embedded.demo.show import launched_farm
from deploy.embedded.loopback import free_port
from shared import clock
from shared.parent_death import with_parent_death_signal
from tests.certificates import make_pkcs12
from tests.servers import Server
from tests.system.conftest import DOCUMENTS, open_account
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy/prometheus"
SIGNED = '<document><security sign="contract"/><flow><p>Hello</p></flow></document>'
HELLO = "<document><flow><p>Hello</p></flow></document>"
LOAD_SECONDS = 25
BOARDS = {
    file.stem: json.loads(file.read_text())
    for file in sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))
}
QUERIES = sorted(
    {
        target["expr"]
        for board in BOARDS.values()
        for panel in board["panels"]
        for target in panel.get("targets", ())
    }
)
VARIABLES = {"$__rate_interval": "1m", "$__range": "5m"}


def promtool(*arguments):
    ended = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_promtool_accepts_the_configuration_and_the_rules(tmp_path):
    copy = tmp_path / "prometheus"
    shutil.copytree(FOLDER, copy)
    promtool("check", "config", copy / "prometheus.yml")
    promtool("check", "rules", *sorted((copy / "rules").glob("*.yml")))


@pytest.mark.parametrize(
    "file", sorted((FOLDER / "tests").glob("*.yml")), ids=lambda file: file.stem
)
def test_every_alert_is_quiet_first_and_fires_later(file):
    promtool("test", "rules", file)


@pytest.mark.parametrize("severity", ["page", "ticket"])
def test_an_alert_is_sent_to_the_address_of_the_settings(tmp_path, severity):
    port = free_port()
    text = (FOLDER / "alertmanager.yml").read_text()
    with Server(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as target:
        # `url_file` is newer than Debian's Alertmanager. Nobody waits half a minute here.
        text = text.replace("url_file: /tmp/alert_url", f"url: {target.url('/hook')}")
        config = tmp_path / "alertmanager.yml"
        config.write_text(text.replace("group_wait: 30s", "group_wait: 1s"))
        command = [
            "prometheus-alertmanager",
            f"--config.file={config}",
            f"--storage.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=",
        ]
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(with_parent_death_signal(command), stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            add = ["amtool", "alert", "add", "PressroomTest", f"severity={severity}"]
            sent = [*add, f"--alertmanager.url={url}"]
            wait_until(
                lambda: subprocess.run(sent, capture_output=True, check=False).returncode == 0,
                pause=0.2,
                explain=(tmp_path / "log").read_text,
            )
            wait_until(lambda: target.requests, pause=0.1)
        finally:
            process.terminate()
            process.wait()
    told = json.loads(target.requests[0].partition(b"\r\n\r\n")[2])
    assert told["receiver"] == f"{severity}s"
    assert told["alerts"][0]["labels"]["alertname"] == "PressroomTest"


class Prometheus:
    def __init__(self, port):
        self._url = f"http://127.0.0.1:{port}"

    def get(self, path, **parameters):
        with urlopen(f"{self._url}{path}?{urlencode(parameters)}", timeout=10) as answer:
            return json.load(answer)["data"]

    def ask(self, query):
        return self.get("/api/v1/query", query=query)["result"]

    def is_ready(self):
        with suppress(OSError), urlopen(f"{self._url}/-/ready", timeout=1) as answer:
            return answer.status == 200
        return False


def configured(farm, folder):
    """Write the product's configuration, with the farm's ports in place of names and no patience."""
    ports = farm.record.ports
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    config["global"] |= {
        "scrape_interval": "1s",
        "scrape_timeout": "1s",
        "evaluation_interval": "1s",
    }
    del config["alerting"]
    config["rule_files"] = [str(FOLDER / "rules/*.yml")]
    for job in config["scrape_configs"]:
        del job["dns_sd_configs"]
        name = job["job_name"]
        port = ports["front"] if name == "front" else ports[f"{name}_metrics"]
        job["static_configs"] = [{"targets": [f"127.0.0.1:{port}"]}]
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(config))
    return path


def load(account, seconds):
    """Send every kind of request that a dashboard shows, in a loop."""
    account.store_logo()
    template = account.store_template((DOCUMENTS / "invoice.xml").read_bytes())
    invoice = (DOCUMENTS / "invoice.json").read_bytes()
    logo = (DOCUMENTS / "logo.png").read_bytes()
    end = time.monotonic() + seconds

    def go_on(_):
        while time.monotonic() < end:
            account.render(invoice, "application/json", f"?template={template}")
            account.render(HELLO)
            account.render(HELLO, query="?draft=true")
            account.render(SIGNED)
            account.render("<document><p/></document>")
            account.render(f'<document><flow><img src="{server.url()}" alt=""/></flow></document>')
            account.request(
                "POST", "/v2/validate", HELLO.encode(), headers={"Content-Type": "text/xml"}
            )
            time.sleep(0.05)

    head = f"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: {len(logo)}\r\n\r\n"
    with Server(head.encode() + logo) as server, ThreadPoolExecutor(3) as pool:
        list(pool.map(go_on, range(3)))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def farm(tmp_path_factory, certificates):
    environment = {
        "PRESSROOM_OUTBOUND_ALLOW_PRIVATE": "true",
        "PRESSROOM_SIGNER_CERTIFICATES": str(certificates),
    }
    with launched_farm(tmp_path_factory.mktemp("farm"), environment=environment) as farm:
        yield farm


@pytest.fixture(scope="module")
def watched(farm, certificates, tmp_path_factory):
    """Yield Prometheus after it has scraped the farm under load, and the account of the load."""
    folder = tmp_path_factory.mktemp("prometheus")
    port = free_port()
    command = [
        "prometheus",
        f"--config.file={configured(farm, folder)}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(with_parent_death_signal(command), stdout=log, stderr=log)
    prometheus = Prometheus(port)
    try:
        wait_until(prometheus.is_ready, pause=0.1, explain=(folder / "log").read_text)
        account = open_account(farm, max_pages=100000, max_draft_pages=20)
        (certificates / f"{account.id}.contract.p12").write_bytes(make_pkcs12(clock.now()))
        load(account, LOAD_SECONDS)
        wait_for_account(prometheus, account)
        yield prometheus, account
    finally:
        process.terminate()
        process.wait()


def wait_for_account(prometheus, account):
    """Wait for the counter's next look at the database, which is seconds apart."""
    pages = f'pressroom_account_pages{{account="{account.id}"}}'
    wait_until(lambda: prometheus.ask(pages), pause=0.5)


def test_every_process_is_scraped_and_every_rule_is_healthy(watched):
    prometheus, _ = watched
    targets = prometheus.get("/api/v1/targets")["activeTargets"]
    assert {target["labels"]["job"]: target["health"] for target in targets} == dict.fromkeys(
        ("front", "worker", "batch", "counter", "maintenance", "webhooks", "fetcher", "signer"),
        "up",
    )
    assert all(target["lastScrapeDuration"] < 0.5 for target in targets)
    rules = [rule for group in prometheus.get("/api/v1/rules")["groups"] for rule in group["rules"]]
    assert len(rules) > 40
    assert {rule["health"] for rule in rules} == {"ok"}


def test_a_healthy_farm_under_load_fires_no_alert(watched):
    prometheus, _ = watched
    assert prometheus.ask('ALERTS{alertstate="firing"}') == []


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_a_dashboard_returns_data(watched, query):
    prometheus, account = watched
    for name, value in (VARIABLES | {"$account": account.id}).items():
        query = query.replace(name, value)
    found = prometheus.ask(query)
    assert found, query
    assert any(sample["value"][1] != "NaN" for sample in found), query


def test_the_choice_of_accounts_has_the_one_that_renders(watched):
    prometheus, account = watched
    values = prometheus.get("/api/v1/label/account/values")
    assert account.id in values


def compile_board(folder, board):
    text = json.dumps(board, indent=1, ensure_ascii=False)
    head = (
        "import type { PlainDashboard } from './plain.js';\nexport const board: PlainDashboard = "
    )
    (folder / "board.ts").write_text(f"{head}{text};\n")
    command = ["node", "node_modules/typescript/bin/tsc", "-p", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", BOARDS)
def test_a_dashboard_is_of_grafanas_own_types(schemas, name):
    board = json.loads((ROOT / f"deploy/grafana/dashboards/{name}.json").read_text())
    ended = compile_board(schemas, board)
    assert ended.returncode == 0, ended.stdout
