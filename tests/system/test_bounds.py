"""Time is bounded from outside: a document that never ends gets its 504, and the next one its PDF."""

import pytest

from deploy.embedded.demo.show import launched_farm
from tests.waiting import within

pytestmark = pytest.mark.long

BUDGET_SECONDS = 3.0
HELLO = "<document><flow><p>Hello</p></flow></document>"
# Within all bounds of the language, and some ten seconds of work.
ENDLESS = (
    '<document><flow><p for="i in range(10000)" text-align="justify">'
    "{{ range(190) | join(' word ') }}</p></flow></document>"
)


@pytest.fixture(scope="module")
def impatient_farm(tmp_path_factory):
    environment = {
        "PRESSROOM_RENDER_BUDGET": str(BUDGET_SECONDS),
        "PRESSROOM_WORKER_CONCURRENCY": "1",
    }
    with launched_farm(tmp_path_factory.mktemp("impatient"), environment=environment) as farm:
        yield farm


@pytest.fixture
def account(impatient_farm, make_account):
    return make_account(impatient_farm, plan="paid")


def test_an_endless_document_gets_its_504_and_the_next_render_is_right(account):
    assert account.render(HELLO).status == 200
    with within(BUDGET_SECONDS + 10):
        answer = account.render(ENDLESS)
    assert answer.status == 504, answer.body[:300]
    assert answer.json["data"]["code"] == "ERR_RENDER_TIMEOUT"
    following = account.render(HELLO)
    assert (following.status, following.pages) == (200, 1)
    usage = account.settled_usage(pages=2)
    assert (usage["pagesGenerated"], usage["apiCalls"]) == (2, 2)
