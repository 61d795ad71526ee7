"""Tags, promise by promise."""

from __future__ import annotations

import pytest

from shared.templates.names import HISTORY_DEPTH, PAGE


@pytest.fixture
def tags(template, publish) -> str:
    """Publish three versions and return the path of the tags."""
    for n in range(3):
        publish(f"<d n='{n}'/>")
    return f"/v2/templates/{template}/tags"


def test_a_tag_record_has_the_user_and_time_of_the_last_move(caller, tags, account):
    caller.put(f"{tags}/stable", json={"version": 2})
    record = caller.get(f"{tags}/stable").json
    assert set(record) == {"tag", "version", "updated_at", "updated_by"}
    assert record["updated_by"]["id"] == account.user.id


def test_the_same_version_again_succeeds_and_changes_nothing(caller, tags):
    caller.put(f"{tags}/stable", json={"version": 1})
    record = caller.get(f"{tags}/stable").json
    assert caller.put(f"{tags}/stable", json={"version": 1}).status_code == 200
    assert caller.get(f"{tags}/stable").json == record
    assert len(caller.get(f"{tags}/stable/history").json["events"]) == 1


def test_a_version_that_is_not_published_is_a_404_without_a_code(caller, tags):
    for version in (4, 10**15):
        answer = caller.put(f"{tags}/stable", json={"version": version})
        assert answer.status_code == 404
        assert "data" not in answer.json
        assert str(version) in answer.json["message"]


def test_a_version_field_of_another_kind_is_a_400(caller, tags):
    for body in ("{}", '{"version":"1"}', '{"version":true}', '{"version":null}',
             '{"version":0}', '{"version":-1}', '{"version":1.5}', '{"version":99999999999999999}',
             '{"version":1,"x":1}', '{"version":1,"version":2}', "[1]", "1", ""):  # fmt: skip
        answer = caller.put(f"{tags}/stable", data=body, content_type="application/json")
        assert answer.status_code == 400, body
    assert caller.get(f"{tags}/stable").status_code == 404


def test_a_whole_number_is_whole_however_json_writes_it(caller, tags):
    answer = caller.put(f"{tags}/stable", data='{"version":1.0}', content_type="application/json")
    assert (answer.status_code, answer.json) == (200, {"tag": "stable", "version": 1})


def test_a_bad_tag_name_is_a_400_naming_the_rule(caller, tags):
    for tag, rule in (
        ("live", "reserved"), ("latest", "reserved"), ("123", "digits"), ("Stable", "lowercase"),
        ("a--b", "single hyphens"), ("-a", "hyphens"), ("a-", "hyphens"), ("a_b", "hyphens"),
        ("a" * 65, "1 to 64"), ("é", "lowercase"),
    ):  # fmt: skip
        for answer in (
            caller.put(f"{tags}/{tag}", json={"version": 1}),
            caller.get(f"{tags}/{tag}"),
            caller.delete(f"{tags}/{tag}"),
            caller.get(f"{tags}/{tag}/history"),
        ):
            assert answer.status_code == 400, tag
            assert rule in answer.json["message"], tag


def test_a_missing_tag_is_a_404_without_a_code(caller, tags):
    for path in (f"{tags}/stable", f"{tags}/stable/history"):
        answer = caller.get(path)
        assert answer.status_code == 404
        assert "data" not in answer.json
        assert "stable" in answer.json["message"]


def test_tags_are_ordered_by_name(caller, tags):
    for tag in ("b", "a-b", "ab", "a", "0a"):
        caller.put(f"{tags}/{tag}", json={"version": 1})
    listed = caller.get(tags).json
    assert [record["tag"] for record in listed["tags"]] == ["0a", "a", "a-b", "ab", "b"]
    assert listed["has_more"] is False


def test_start_after_returns_the_next_page_and_has_more_is_exact(caller, tags):
    names = [f"t{n:03}" for n in range(PAGE + 1)]
    for name in names:
        caller.put(f"{tags}/{name}", json={"version": 1})
    first = caller.get(tags).json
    assert [record["tag"] for record in first["tags"]] == names[:PAGE]
    assert first["has_more"] is True
    rest = caller.get(f"{tags}?start_after={names[PAGE - 1]}").json
    assert [record["tag"] for record in rest["tags"]] == names[PAGE:]
    assert rest["has_more"] is False
    caller.delete(f"{tags}/{names[0]}")
    assert caller.get(tags).json["has_more"] is False


def test_an_invalid_start_after_is_a_400(caller, tags):
    for value in ("", "a" * 65, "A", "a%00"):
        answer = caller.get(f"{tags}?start_after={value}")
        assert answer.status_code == 400, value
        assert "start_after" in answer.json["message"]


def test_a_removed_tag_names_nothing_and_its_version_stays(caller, tags, template):
    caller.put(f"{tags}/stable", json={"version": 2})
    answer = caller.delete(f"{tags}/stable")
    assert (answer.status_code, answer.json) == (200, {"tag": "stable", "removed": True})
    assert caller.get(f"/v2/templates/{template}@stable").status_code == 404
    assert caller.get(f"/v2/templates/{template}@2").status_code == 200


def test_removing_a_missing_tag_returns_removed_false(caller, tags):
    answer = caller.delete(f"{tags}/stable")
    assert (answer.status_code, answer.json) == (200, {"tag": "stable", "removed": False})


def test_the_history_has_each_move_newest_first_and_survives_removal(caller, tags, account):
    for version in (1, 3):
        caller.put(f"{tags}/stable", json={"version": version})
    caller.delete(f"{tags}/stable")
    caller.delete(f"{tags}/stable")
    caller.put(f"{tags}/stable", json={"version": 2})
    history = caller.get(f"{tags}/stable/history").json
    told = [
        (event["action"], event["version"], event.get("previous_version", "absent"))
        for event in history["events"]
    ]
    assert told == [
        ("created", 2, "absent"),
        ("removed", None, 3),
        ("moved", 3, 1),
        ("created", 1, "absent"),
    ]
    assert history["has_more"] is False
    assert all(event["by"]["id"] == account.user.id for event in history["events"])
    assert all({"at", "by"} <= set(event) for event in history["events"])


@pytest.mark.parametrize(("moves", "has_more"), [(HISTORY_DEPTH, False), (HISTORY_DEPTH + 1, True)])
def test_the_history_is_limited_and_has_more_reports_older_entries(caller, tags, moves, has_more):
    for n in range(moves):
        caller.put(f"{tags}/stable", json={"version": 1 + n % 2})
    history = caller.get(f"{tags}/stable/history").json
    assert len(history["events"]) == HISTORY_DEPTH
    assert history["has_more"] is has_more
    assert history["events"][0]["version"] == 1 + (moves - 1) % 2
