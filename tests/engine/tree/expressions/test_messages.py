"""Messages: selection by language and number, and findings about missing ones."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from tests.engine.tree.documents import OPTIONS, build_source, document, problems, text_of, texts
from workers.engine.diagnostics import Findings
from workers.engine.pipeline import build_document, prepare_template, render, validate
from workers.engine.ports import Payload, PayloadKind
from workers.engine.tree.expressions.messages import (
    find_category,
    list_categories,
    list_common_categories,
    list_tags,
)


def messages(lang: str, *pairs: tuple[str, str]) -> str:
    written = "".join(f'<message key="{key}">{text}</message>' for key, text in pairs)
    return f'<messages lang="{lang}">{written}</messages>'


@pytest.mark.parametrize(
    ("lang", "number", "category"),
    [
        ("en", "1", "one"),
        ("en", "1.0", "one"),
        ("en", "1.5", "other"),
        ("fr", "0", "one"),
        ("fr", "1.9", "one"),
        ("fr", "1000000", "many"),
        ("pl", "22", "few"),
        ("pl", "25", "many"),
        ("pl", "-2", "few"),
        ("ar", "0", "zero"),
        ("ar", "11", "many"),
        ("cy", "6", "many"),
        ("ja", "1", "other"),
        ("tlh", "1", "other"),
        ("en", "9" * 60, "other"),
    ],
)
def test_plural_categories_are_those_of_the_cldr(lang, number, category):
    assert find_category(lang, "plural", Decimal(number)) == category


def test_ordinal_categories_are_those_of_the_cldr():
    shown = [find_category("en", "ordinal", Decimal(n)) for n in (1, 2, 3, 4, 11, 21, 112)]
    assert shown == ["one", "two", "few", "other", "other", "one", "other"]
    assert list_categories("it", "ordinal") == ("many", "other")
    assert list_categories("fr", "plural") == ("one", "many", "other")
    assert list_common_categories("fr", "plural") == ("one", "other")


@pytest.mark.parametrize(
    ("lang", "shown"),
    [
        ("de-AT", "Jänner"),
        ("de-CH", "Januar"),
        ("de", "Januar"),
        ("DE-at", "Jänner"),
        ("zh-TW", "traditional"),
        ("zh-Hant-HK", "traditional"),
        ("zh-CN", "simplified"),
        ("pt-BR", "January"),
    ],
)
def test_the_nearest_language_is_shown(lang, shown):
    head = (
        messages("en", ("jan", "January"))
        + messages("de-AT", ("jan", "Jänner"))
        + messages("de", ("jan", "Januar"))
        + messages("zh-Hant", ("jan", "traditional"))
        + messages("zh", ("jan", "simplified"))
    )
    assert texts(f"<p lang=\"{lang}\">{{{{ 'jan' | t }}}}</p>", head=head, lang="en") == [shown]


def test_missing_messages_fall_back_to_the_document_language_then_to_the_first():
    head = (
        messages("en", ("a", "en a"), ("b", "en b {{ 1.5 | number }}"), ("c", "en c"))
        + messages("de", ("a", "de a {{ 1.5 | number }}"))
        + messages("fr", ("c", "fr c"))
    )
    flow = "<div lang=\"fr\"><p>{{ 'a' | t }}</p><p>{{ 'b' | t }}</p><p>{{ 'c' | t }}</p></div>"
    assert texts(flow, head=head, lang="de") == ["de a 1,5", "en b 1.5", "fr c"]
    reported = [one for one in problems(flow, head=head, lang="de") if "missing-message" in one]
    assert [one[:45] for one in reported] == [
        'The message "a" is missing in `fr`; that of `',
        'The message "b" is missing in `fr`; that of `',
    ]


def test_a_language_that_data_bring_is_that_of_messages_and_of_lets():
    source = document(
        "<p>{{ greeting }} {{ 'a' | t }}</p>",
        {"lang": "fr"},
        head=messages("en", ("a", "one")) + messages("fr", ("a", "un {{ 1.5 | number }}")),
        lang="{{ lang }}",
    ).replace("</data>", '<let name="greeting" value="\'a\' | t"/></data>')
    template = prepare_template(source.encode())
    payload = Payload(PayloadKind.JSON, b'{"lang": "en"}')
    assert not list(validate(template, payload, options=OPTIONS))
    assert not list(validate(template, None, options=OPTIONS))
    assert render(template, payload, options=OPTIONS).warnings == ()
    (paragraph,) = build_source(source).flows[0].blocks
    assert text_of(paragraph) == "un 1,5 un 1,5"


def test_a_message_in_attributes_and_a_part():
    head = messages("en", ("a", "shown {{ n }}")) + (
        '<part name="p" takes="n"><p>{{ \'a\' | t(n=n) }}</p></part>'
    )
    assert texts('<use part="p" n="{{ 1 }}"/>', head=head, lang="en") == ["shown 1"]


def test_white_space_in_a_message_is_that_of_html():
    head = messages("en", ("a", "\n  two   {{ x }}\n words\u00a0 \n"))
    assert texts(
        "<p title='x'>{{ 'a' | t(x='|') }}!</p>".replace(" title='x'", ""), head=head, lang="en"
    ) == ["two | words\u00a0!"]


def test_markup_in_a_value_stays_text():
    head = messages("en", ("a", "{{ x }}"))
    assert texts("<p>{{ 'a' | t(x=v) }}</p>", {"v": "<b>{{ 1 }}"}, head=head, lang="en") == [
        "<b>{{ 1 }}"
    ]


def test_a_message_knows_neither_data_by_name_nor_a_loop():
    head = messages("en", ("a", "{{ name }}"))
    (reported,) = problems("<p>{{ 'a' | t }}</p>", {"name": "Ada"}, head=head, lang="en")
    assert 'The message "a" of `en` needs `name`' in reported
    head = messages("en", ("a", "{{ data.name }} {{ doc.lang }}"))
    assert texts("<p>{{ 'a' | t }}</p>", {"name": "Ada"}, head=head, lang="en") == ["Ada en"]


def test_row_expressions_in_messages_and_messages_in_row_expressions():
    head = messages("en", ("sum", "{{ rows | sum('v * rate') }}"), ("k", "K"))
    flow = "<p>{{ 'sum' | t(rows=r, rate=3) }} {{ r | map(\"'k' | t\") | join }}</p>"
    assert texts(flow, {"r": [{"v": 2}, {"v": 1}]}, head=head, lang="en") == ["9 KK"]


def test_unused_messages_are_reported_unless_data_have_keys():
    head = messages("en", ("a", "x"))
    (reported,) = problems("<p/>", head=head, lang="en")
    assert "[unused-message]" in reported
    assert problems("<p>{{ key | t }}</p>", {"key": "a"}, head=head, lang="en") == []


def test_t_without_messages_is_an_error():
    for flow in ("<p>{{ 'a' | t }}</p>", "<p>{{ key | t }}</p>"):
        (reported,) = problems(flow, {"key": "a"})
        assert reported.startswith("The document has no `messages`")


@pytest.mark.parametrize("key", ["x" * 100_000, "", "a\n", "{{", "#run"])
def test_keys_of_data_are_only_keys(key):
    head = messages("en", ("a", "x"))
    started = time.process_time()
    (reported,) = problems("<p>{{ key | t }}</p>", {"key": key}, head=head, lang="en")
    assert time.process_time() - started < 2
    assert "no language has the message" in reported.lower()
    assert len(reported) < 300


def test_cached_languages_of_data_are_limited():
    head = messages("en", ("a", "x"))
    template = prepare_template(
        document("<p lang='{{ lang }}'>{{ 'a' | t }}</p>", head=head, lang="en").encode()
    )
    for number in range(200):
        payload = Payload(PayloadKind.JSON, f'{{"lang": "x-l{number}"}}'.encode())
        validate(template, payload, options=OPTIONS)
    assert 0 < list_tags.cache_info().currsize <= 64


def test_messages_written_alike_are_reported_where_each_stands():
    wrong = messages("en", ("a", "{{ 'b' | t }}"), ("c", "{{ 1 + }}"))
    for line in (1, 4):
        source = document("<p>{{ 'a' | t }}</p>", head="\n" * (line - 1) + wrong, lang="en")
        template = prepare_template(source.encode())
        reported = {
            finding.code: finding.location.span.line_start
            for finding in validate(template, None, options=OPTIONS)
            if finding.location is not None
        }
        assert reported["message-in-message"] == line
        assert reported["expression-syntax"] == line


def test_a_payload_replaces_and_adds_messages():
    template = prepare_template(
        document(
            "<p>{{ 'a' | t }}</p><p lang='fr'>{{ 'a' | t }}</p>",
            head=messages("en", ("a", "old"), ("b", "kept")) + "<style name='s' color='red'/>",
            lang="en",
        ).encode()
    )
    changed = messages("en", ("a", "new")) + messages("fr", ("a", "nouveau"))
    payload = Payload(PayloadKind.XML, f"<document>{changed}</document>".encode())
    found = [one.code for one in validate(template, payload, options=OPTIONS)]
    assert "missing-message" not in found
    assert "duplicate-key" not in found
    built, _ = build_document(template, payload, options=OPTIONS, findings=Findings())
    assert [text_of(block) for block in built.flows[0].blocks] == ["new", "nouveau"]


def test_a_final_message_is_not_replaced():
    final = '<messages lang="en"><message key="a" final="true">old</message></messages>'
    template = prepare_template(document("<p>{{ 'a' | t }}</p>", head=final, lang="en").encode())
    payload = Payload(
        PayloadKind.XML, f"<document>{messages('EN', ('a', 'new'))}</document>".encode()
    )
    assert [one.code for one in validate(template, payload, options=OPTIONS)] == ["final"]
