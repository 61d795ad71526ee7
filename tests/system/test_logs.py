"""A request can be followed through the logs of all processes, and nothing private is in them."""

import json
import socket
import time

from tests.system.leaks import SECRET, find_leaks
from tests.waiting import wait_until

HELLO = "<document><flow><p>Hello</p></flow></document>"


def lines(farm, process):
    log = farm.folder.logs / f"{process}.log"
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def await_line(farm, process, **fields):
    def find():
        for line in lines(farm, process):
            if all(line.get(name) == value for name, value in fields.items()):
                return line
        return None

    return wait_until(find, pause=0.1)


def test_request_and_job_lead_from_front_to_worker_to_counter(farm, account):
    job = account.render(HELLO).headers["X-Job-Id"]
    asked = await_line(farm, "front", event="request answered", job=job)
    done = await_line(farm, "worker", event="render finished", job=job)
    assert asked["request"] == done["request"]
    assert asked["account"] == done["account"] == account.id
    assert (done["status"], done["pages"]) == ("succeeded", 1)
    wait_until(
        lambda: any(job in line.get("jobs", ()) for line in lines(farm, "background")), pause=0.1
    )


def test_every_line_is_json_with_its_time_level_and_process(farm, account):
    await_line(farm, "front", job=account.render(HELLO).headers["X-Job-Id"])
    for process in ("front", "worker", "background"):
        text = (farm.folder.logs / f"{process}.log").read_text()
        found = lines(farm, process)
        assert len(found) == len(text.splitlines()), text[:2000]
        assert all({"event", "level", "timestamp", "logger", "pid"} <= set(line) for line in found)


def test_private_texts_are_sent_everywhere_and_found_in_no_log(farm, account):
    document = HELLO.replace("Hello", SECRET)
    broken = (
        f"<document><flow><p>{{{{ {SECRET.replace('-', '_')} }}}}</p><{SECRET}/></flow></document>"
    )
    account.render(document)
    account.render(broken)
    account.render(f'{{"name": "{SECRET}"}}', "application/json", f"?template={SECRET}")
    account.render(SECRET, f"text/{SECRET}")
    account.render(document, query=f"?{SECRET}={SECRET}")
    account.render(f"name\n{SECRET}", "text/csv")
    account.render(f"# {SECRET}", "text/markdown")
    template = account.store_template(document.encode())
    account.render("{}", "application/json", f"?template={template}")
    account.request(
        "PUT", f"/v2/images/{SECRET}", SECRET.encode(), headers={"Content-Type": "image/png"}
    )
    account.request("GET", f"/v2/{SECRET}")
    account.request("GET", "/v2/account/usage", headers={"Authorization": f"Bearer pr_{SECRET}"})
    account.request("GET", "/v2/account/usage", headers={"x-api-key": SECRET})
    account.request(SECRET.upper().replace("-", ""), "/v2/pdf")
    headers = {"Content-Type": "text/xml", "Cookie": SECRET}
    account.request("POST", "/v2/pdf", document.encode(), headers=headers)
    for wrong in (f"{SECRET}\r\n\r\n", f"GET / HTTP/1.1\r\n{SECRET} x: y\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", farm.record.ports["front"])) as raw:
            raw.sendall(wrong.encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 400")
    assert account.render(HELLO).status == 200
    time.sleep(0.3)
    for log in farm.folder.logs.iterdir():
        assert list(find_leaks(log.read_text(errors="replace"))) == [], log.name
