"""`pressroom messages`: gaps, PO files out, and PO files in."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from deploy.cli.main import main

SOURCE = """\
<document lang="en">
  <messages lang="en">
    <message key="dear">Dear &lt;{{ name }}&gt;</message>
    <message key="days" plural="one">{{ n }} day</message>
    <message key="days" plural="other">{{ n }} days</message>
    <message key="place" ordinal="one">{{ n }}st</message>
    <message key="place" ordinal="other" final="true">{{ n }}th</message>
    <message key="old">Old</message>
  </messages>\r
  <flow><p>{{ 'dear' | t(name='"Ada"') }} {{ 'days' | t(n=2) }} {{ 'place' | t(n=1) }} {{ 'new' | t }}</p></flow>
</document>
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "letter.xml"
    path.write_bytes(SOURCE.encode())
    return path


def extract(document: Path, lang: str) -> Path:
    path = document.parent / f"{lang}.po"
    assert main(["messages", "extract", str(document), "--lang", lang, "-o", str(path)]) == 0
    return path


def test_check_lists_gaps_unknown_and_unused_keys(document, capsys):
    text = document.read_text().replace(
        "</document>",
        '<messages lang="pl"><message key="days" plural="one">d</message></messages></document>',
    )
    document.write_text(text)
    assert main(["messages", "check", str(document), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["languages"] == ["en", "pl"]
    assert {"lang": "en", "key": "place", "categories": ["two", "few"]} in found["gaps"]
    assert {"lang": "pl", "key": "dear", "categories": []} in found["gaps"]
    assert {"lang": "pl", "key": "days", "categories": ["few", "many", "other"]} in found["gaps"]
    assert (found["unknown"], found["unused"]) == (["new"], ["old"])
    assert main(["messages", "check", str(document)]) == 1
    told = capsys.readouterr().out
    assert 'pl: "days" is missing for few, many, other' in told
    assert '"new" is used, but no language defines it' in told


def test_check_of_a_complete_document_is_zero(tmp_path, capsys):
    path = tmp_path / "a.xml"
    path.write_text(
        '<document><messages lang="en"><message key="a">x</message></messages><flow><p>{{ \'a\' | t }}</p></flow></document>'
    )
    assert main(["messages", "check", str(path)]) == 0
    assert capsys.readouterr().out == "1 keys in en\n"


@pytest.mark.parametrize("lang", ["en", "pl", "ar", "ja", "fr"])
def test_a_file_for_translators_is_read_by_gettext(document, lang):
    written = extract(document, lang).read_bytes()
    catalog = read_po(io.BytesIO(written), abort_invalid=True)
    assert catalog.num_plurals == {"en": 2, "pl": 4, "ar": 6, "ja": 1, "fr": 2}[lang]
    assert {entry.id if isinstance(entry.id, str) else entry.id[0] for entry in catalog} >= {
        "dear",
        "days",
        "place",
        "new",
    }
    assert written == extract(document, lang).read_bytes()


def test_exported_texts_are_imported_unchanged(document, capsys):
    po = extract(document, "en")
    out = document.parent / "out.xml"
    assert main(["messages", "import", str(document), str(po), "-o", str(out)]) == 0
    assert out.read_bytes() == SOURCE.encode()
    assert main(["messages", "import", str(document), str(po)]) == 0
    assert capsys.readouterr().out.replace("\r\n", "\n") == SOURCE.replace("\r\n", "\n")


def test_a_new_language_is_put_in_at_the_end(document):
    po = extract(document, "pl")
    text = po.read_text()
    text = text.replace('msgid "dear"\nmsgstr ""', 'msgid "dear"\nmsgstr "Drogi <{{ name }}> & Co"')
    text = text.replace('msgstr[1] ""', 'msgstr[1] "{{ n }} dni"').replace(
        'msgstr[3] ""', 'msgstr[3] "{{ n }} dnia"'
    )
    text = text.replace(
        'msgctxt "ordinal other"\nmsgid "place"\nmsgstr ""',
        'msgctxt "ordinal other"\nmsgid "place"\nmsgstr "{{ n }}."',
    )
    po.write_text(text)
    assert main(["messages", "import", str(document), str(po), "-o", str(document)]) == 0
    assert document.read_text().endswith("""\
  <messages lang="pl">
    <message key="dear">Drogi &lt;{{ name }}&gt; &amp; Co</message>
    <message key="days" plural="few">{{ n }} dni</message>
    <message key="days" plural="other">{{ n }} dnia</message>
    <message key="place" ordinal="other">{{ n }}.</message>
  </messages>
</document>
""")


@pytest.mark.parametrize(
    ("po", "told"),
    [
        ('msgid "a"\nmsgstr "b"\n', 'no valid "Language"'),
        ('msgid ""\nmsgstr "Language: fr\\n"\n\nmsgid "a\n', "not a PO file"),
        ('msgid ""\nmsgstr "Language: ../x\\n"\n', 'no valid "Language"'),
        (
            'msgid ""\nmsgstr ""\n"Language: ja\\n"\n"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n\nmsgid "a"\nmsgid_plural "a"\nmsgstr[0] "x"\nmsgstr[1] "y"\n',
            "`ja` has other",
        ),
        (b"\xff\xfe\x00", "not a PO file"),
    ],
)
def test_a_file_that_is_not_a_po_file_is_rejected(document, po, told, capsys):
    path = document.parent / "x.po"
    path.write_bytes(po if isinstance(po, bytes) else po.encode())
    assert main(["messages", "import", str(document), str(path)]) == 1
    assert told in capsys.readouterr().err


def test_an_unknown_language_and_a_missing_file_are_rejected(document, capsys):
    assert main(["messages", "extract", str(document), "--lang", "xx-yy"]) == 1
    assert main(["messages", "check", str(document.parent / "none.xml")]) == 1
    (document.parent / "b.xml").write_text("<document>")
    assert main(["messages", "check", str(document.parent / "b.xml")]) == 1
    told = capsys.readouterr().err
    assert 'unknown language "xx-yy"' in told
    assert told.count("cannot be read") == 2
