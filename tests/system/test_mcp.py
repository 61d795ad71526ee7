"""`pressroom mcp`: an assistant finds, previews, stores and publishes templates with its key, and no more."""

import asyncio
import base64
import io
import json
import sys

import pytest
from mcp import Client, StdioServerParameters
from PIL import Image

from tests.conftest import create_account_of
from tests.system.conftest import Account

LETTER = "<document><flow><p>Dear {{ name }}</p></flow></document>"
READING = {"read_language", "list_templates", "read_template", "validate_template", "preview_page"}


@pytest.fixture(scope="module")
def tenant(farm):
    made = create_account_of(farm, plan="paid")
    return Account(farm, made.account_id, made.key_id, made.api_key)


def talk(farm, key, *calls):
    """Return the names of the tools, and the result of each call of one session."""
    url = f"http://127.0.0.1:{farm.record.ports['front']}"
    arguments = ["-c", "import sys; from deploy.cli.main import main; sys.exit(main())", "mcp"]
    environment = {"PRESSROOM_URL": url, "PRESSROOM_KEY": key}
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)

    async def converse():
        async with Client(server) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            return tools, [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(converse())


def texts(result):
    return [part.text for part in result.content if part.type == "text"]


def test_a_template_is_previewed_stored_and_published(farm, tenant):
    wrong = LETTER.replace("<p>", "<p colour='red'>")
    tools, (chapter, preview, broken, stored) = talk(
        farm,
        tenant.api_key,
        ("read_language", {"heading": "Tables"}),
        ("preview_page", {"template": LETTER, "data": {"name": "Ada"}}),
        ("preview_page", {"template": wrong, "data": {"name": "Ada"}}),
        ("create_template", {"content": LETTER, "name": "letter"}),
    )
    assert tools == READING | {"create_template", "replace_template", "publish_template"}
    assert texts(chapter)[0].startswith("## Tables")
    [image] = [part for part in preview.content if part.type == "image"]
    with Image.open(io.BytesIO(base64.b64decode(image.data))) as page:
        assert page.size == (893, 1263)
    assert "colour" in "".join(texts(broken))
    made = json.loads(texts(stored)[0])
    given = {"template": made["id"], "etag": made["etag"], "message": "first"}
    _, [published, again] = talk(
        farm,
        tenant.api_key,
        ("publish_template", given),
        ("replace_template", {"content": wrong, "template": made["id"], "etag": '"other"'}),
    )
    assert json.loads(texts(published)[0])["version"] == 1
    assert again.is_error
    assert "etag" in texts(again)[0].lower()


def test_a_key_that_reads_changes_nothing(farm, tenant):
    wanted = json.dumps({"name": "assistant", "scopes": ["read"]}).encode()
    headers = {"Content-Type": "application/json"}
    key = tenant.request("POST", "/v2/keys", wanted, headers=headers).json
    tools, [refused, unknown] = talk(
        farm,
        key["key"],
        ("create_template", {"content": LETTER, "name": "letter"}),
        ("read_template", {"template": "no-such-template"}),
    )
    assert tools == READING
    assert refused.is_error
    assert unknown.is_error
    assert "no-such-template" in texts(unknown)[0]
