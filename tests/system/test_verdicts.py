"""Mutated documents over HTTP: never a 500, and /v2/validate agrees with /v2/pdf."""

from __future__ import annotations

import re
from random import Random

from tests.fuzz.mutations import mutate
from tests.fuzz.verdicts import is_of_rendering
from tests.golden.case import find_cases

ROUNDS = 60
CODE = re.compile(r"\[([a-z0-9-]+)\](?: \(and [\d,]+ more\))?$")
XML = {"Content-Type": "text/xml"}


def disagreement(account, body):
    checked = account.request("POST", "/v2/validate", body, headers=XML)
    rendered = account.render(body)
    if checked.status != 200 or rendered.status not in (200, 400):
        return checked.status, checked.body[:300], rendered.status, rendered.body[:300]
    is_valid = checked.json["valid"]
    if rendered.status == 200:
        return None if is_valid else ("renders", checked.json["errors"][:3])
    text = rendered.json["message"]
    code = CODE.search(text)
    is_left_to_rendering = code is not None and is_of_rendering(code[1], text)
    # An image that may not be shown anywhere is a warning of the validation.
    is_maybe = bool(checked.json["warnings"]) and code is not None and code[1].startswith("image-")
    return text if is_valid and not (is_left_to_rendering or is_maybe) else None


def test_mutated_documents_are_judged_alike_by_both_endpoints(account):
    random = Random(23)
    texts = [case.source.decode() for case in find_cases() if case.payload is None]
    bodies = [
        b'<document><style element="document" color="k"/><flow><p>a</p></flow></document>',
        *(
            mutate(random.choice(texts), random, texts).encode("utf-8", "replace")
            for _ in range(ROUNDS)
        ),
    ]
    found = [(body, why) for body in bodies if (why := disagreement(account, body)) is not None]
    assert found == []
