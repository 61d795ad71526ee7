"""POST /v2/pdf against the real queue, with a scripted worker behind it."""

from __future__ import annotations

XML = {"Content-Type": "application/xml"}


def test_a_complete_document_is_rendered(caller, worker):
    answer = caller.post("/v2/pdf", data=b"<document/>", headers=XML)
    assert answer.status_code == 200
    assert answer.data == worker.pdf
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == 'inline; filename="example.pdf"'
    assert answer.headers["X-Page-Count"] == "1"
    assert answer.headers["X-Job-Id"] == worker.jobs[0].id
    assert answer.headers["Server-Timing"] == (
        "queue;dur=1.0, merge;dur=2.0, layout;dur=3.2, finish;dur=4.0"
    )
    assert worker.bodies == [b"<document/>"]
