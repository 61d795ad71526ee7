"""The description is complete, and checked against the routes and against real answers."""

from __future__ import annotations

import base64
import json
import re
from io import BytesIO

import jsonschema
import pytest
from PIL import Image

from api.app import create_app
from api.openapi.schemas import SCHEMAS
from shared.errors import ErrorCode
from shared.webhooks.repository import WebhookEvent
from tests.golden.case import FOLDER
from workers.webhooks.deliverer import sign


@pytest.fixture
def description(stranger) -> dict:
    return stranger.get("/docs/openapi.json").json


def operations(description):
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_the_description_is_openapi_3_1_of_version_2_0_0(stranger):
    answer = stranger.get("/docs/openapi.json")
    assert answer.content_type.startswith("application/json")
    assert answer.json["openapi"].startswith("3.1.")
    assert answer.json["info"]["version"] == "2.0.0"


def test_every_route_is_described_and_nothing_else(ports, description):
    routes = {
        (method.lower(), re.sub(r"<[\w:]+>", "{}", rule.rule))
        for rule in create_app(ports).url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    told = {(method, re.sub(r"{\w+}", "{}", path)) for method, path, _ in operations(description)}
    of_people = {("get", "/docs/"), ("get", "/docs/{}"), ("get", "/docs/language/{}")}
    assert told | of_people == routes


def test_every_tag_is_declared_and_used(description):
    told = [tag["name"] for tag in description["tags"]]
    assert sorted(told) == sorted({each["tags"][0] for _, _, each in operations(description)})


def test_no_two_paths_mean_the_same(description):
    shapes = [re.sub(r"{\w+}", "{}", path) for path in description["paths"]]
    assert len(shapes) == len(set(shapes))


def test_names_of_operations_are_unique(description):
    names = [operation["operationId"] for _, _, operation in operations(description)]
    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere(description):
    for target in re.findall(r'"\$ref": "([^"]+)"', json.dumps(description)):
        found = description
        for part in target.removeprefix("#/").split("/"):
            found = found[part]


def test_failures_are_shared_components(description):
    """A generated client has one type for each, and reads the page of one operation at a glance."""
    shared = description["components"]["responses"]
    used = set()
    for _, _, operation in operations(description):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert answer.keys() == {"$ref"}, operation["operationId"]
                used.add(answer["$ref"].removeprefix("#/components/responses/"))
    assert used == set(shared)
    assert len(shared) < 40


def test_every_event_is_described_as_it_is_sent(description):
    sent = set(WebhookEvent) - {WebhookEvent.FILE_TEST}  # which destinations get as a file
    assert set(description["webhooks"]) == {event.value for event in sent}
    for name, methods in description["webhooks"].items():
        body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body["properties"]["type"]["const"] == name
        assert set(body["required"]) == {"type", "timestamp", "data"}
        sent = {each["name"] for each in methods["post"]["parameters"]}
        assert sent == set(sign("id", 1, b"", ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]))


def test_every_parameter_of_a_path_is_described(description):
    for _, path, operation in operations(description):
        named = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path))


def test_every_error_code_is_documented_in_some_response(description):
    told = json.dumps(
        [schema for schema in description["components"]["schemas"].values() if "allOf" in schema]
    )
    for code in ErrorCode:
        assert f'"{code}"' in told


def test_every_operation_has_examples_that_its_schemas_accept(description):
    for method, path, operation in operations(description):
        for each in operation["parameters"]:
            check_example(each["schema"], each["example"], description)
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for media, each in [pair for body in bodies for pair in body.get("content", {}).items()]:
            if media == "application/json":
                check_example(each["schema"], each["example"], description)
            elif media.startswith("text/") and operation["security"]:
                assert each["example"], (method, path)


def check_example(schema, example, description):
    root = {"components": description["components"], "allOf": [schema]}
    jsonschema.validate(example, root, format_checker=jsonschema.FormatChecker())


def test_exactly_the_documented_query_parameters_are_accepted(caller, description):
    for method, path, operation in operations(description):
        if not path.startswith("/v2") or path.startswith("/v2/admin/"):
            continue
        concrete = re.sub(r"{\w+}", "1" if "{version}" in path else "abc", path)
        answer = caller.open(f"{concrete}?surprise=1", method=method.upper(), data=b"")
        assert answer.status_code == 400, (method, path)
        accepted = {each["name"] for each in operation["parameters"] if each["in"] == "query"}
        said = answer.json["message"].partition("accepted are ")[2].rstrip(".")
        assert set(filter(None, said.split(", "))) == accepted, (method, path)


def test_responses_match_their_schemas(caller, template):
    version = caller.post(f"/v2/templates/{template}/versions", json={}).json
    path = f"/v2/templates/{template}"
    caller.put(f"{path}/tags/stable", json={"version": 1})
    slug = caller.post("/v2/slugs", json={"slug": "letter", "template": template}).json
    for name, value in (
        ("PublishedVersion", version),
        ("Version", caller.get(f"{path}/versions").json["versions"][0]),
        ("VersionWithContent", caller.get(f"{path}/versions/1").json),
        ("VersionList", caller.get(f"{path}/versions").json),
        ("Template", caller.get("/v2/templates").json["templates"][0]),
        ("TemplateWithContent", caller.get(path).json),
        ("TemplateList", caller.get("/v2/templates").json),
        ("Tag", caller.get(f"{path}/tags/stable").json),
        ("TagList", caller.get(f"{path}/tags").json),
        ("TagHistory", caller.get(f"{path}/tags/stable/history").json),
        ("TagEvent", caller.get(f"{path}/tags/stable/history").json["events"][0]),
        ("TagRemoval", caller.delete(f"{path}/tags/stable").json),
        ("Slug", slug),
        ("SlugList", caller.get("/v2/slugs").json),
        ("SlugAvailability", caller.get("/v2/slugs/letter").json),
        ("ImageList", caller.get("/v2/images").json),
        ("Usage", caller.get("/v2/account/usage").json),
        ("Confirmation", caller.get("/v2/authcheck").json),
        ("Error", caller.get("/v2/templates/none").json),
    ):
        schema = SCHEMAS[name]
        assert set(schema["required"]) <= set(value) <= set(schema["properties"]), name


def test_the_page_loads_only_files_of_the_service(stranger):
    answer = stranger.get("/docs")
    assert answer.content_type.startswith("text/html")
    loaded = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert {path for path in loaded if stranger.get(path).status_code != 200} == set()
    for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert rule in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


def test_every_operation_has_samples_in_three_languages(description):
    for _, path, operation in operations(description):
        samples = operation["x-codeSamples"]
        assert [each["label"] for each in samples] == ["curl", "Python", "JavaScript"], path
        compile(samples[1]["source"], path, "exec")


@pytest.mark.usefixtures("upload_worker")
def test_exactly_the_documented_image_types_are_accepted(caller, description):
    accepted = set()
    for kind in ("PNG", "JPEG", "WEBP", "PDF", "GIF", "TIFF", "BMP"):
        answer = caller.put("/v2/images/try", data=draw(kind), content_type="image/png")
        if answer.status_code in (200, 201):
            accepted.add(answer.json["content_type"])
    vector = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    answer = caller.put("/v2/images/try", data=vector, content_type="image/png")
    accepted.add(answer.json["content_type"])
    press = (FOLDER / "images" / "press.icc").read_bytes()
    answer = caller.put("/v2/images/press", data=press, content_type="image/png")
    accepted.add(answer.json["content_type"])
    told = description["paths"]["/v2/images/{name}"]["put"]["requestBody"]["content"]
    assert set(told) == accepted


def draw(kind: str) -> bytes:
    out = BytesIO()
    Image.new("RGB", (4, 3)).save(out, kind)
    return out.getvalue()


@pytest.mark.usefixtures("upload_worker")
def test_exactly_the_documented_fields_of_an_image_in_json_are_accepted(caller, description):
    fields = {"name": "logo", "data": base64.b64encode(draw("PNG")).decode()}
    assert caller.post("/v2/images", json=fields).status_code == 201
    told = description["components"]["schemas"]["ImageRequest"]
    assert set(told["properties"]) == {*fields, "source_url"}
    assert told["required"] == ["name"]
    assert told["oneOf"] == [{"required": ["data"]}, {"required": ["source_url"]}]
