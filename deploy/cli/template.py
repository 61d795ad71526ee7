"""`pressroom template`: the templates of a farm as files of a folder, which git keeps, and their publishing.

A file is named by the slug of its template: `DIR/invoice.xml` is the live content of `invoice`, `DIR/invoice` its cases.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from difflib import unified_diff
from operator import itemgetter
from pathlib import Path

from deploy.cli.output import (
    CommandFailed,
    Result,
    print_list,
    read_credentials,
    read_file,
    write_file,
)
from deploy.cli.template_cases import pack_cases, unpack_cases
from deploy.cli.template_tests import run_stored
from pressroom_client import Pressroom
from pressroom_client.schemas import Template


def list_templates(arguments: argparse.Namespace) -> Result | None:
    """Print the templates that have a slug."""
    found = [asdict(each) for each in _open(arguments).templates.list() if each.slug]
    found.sort(key=itemgetter("slug"))
    columns = ("slug", "id", "name", "versions")
    return print_list("templates", found, columns, as_json=arguments.json)


def pull_templates(arguments: argparse.Namespace) -> None:
    """Write the live content of templates to files."""
    farm, folder = _open(arguments), arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    for slug in arguments.templates or [each.slug for each in farm.slugs.list()]:
        template = farm.templates.read(slug)
        file, content = folder / f"{slug}.xml", (template.content or "").encode()
        if not file.exists() or read_file(file) != content:
            write_file(file, content)
            print(f"{file} written")
        cases = farm.templates.read_cases(template.id)
        if cases is not None and pack_cases(folder / slug) != cases:
            unpack_cases(cases, folder / slug)
            print(f"{folder / slug} written")


def push_templates(arguments: argparse.Namespace) -> int:
    """Store files as the live content of their templates, new ones under their slugs; return 1 with errors."""
    farm, errors = _open(arguments), 0
    for file in _list_files(arguments.files):
        content, template = read_file(file), _find(farm, file.stem)
        if template is None or _text(content) != template.content:
            if template is None:
                template = farm.templates.create(file.stem, content)
                farm.slugs.assign(file.stem, template.id)
            else:
                template = farm.templates.replace(template.id, content, if_match=template.etag)
            found = (template.findings or {}).get("errors", 0)
            errors += found
            print(f"{file} stored" + (f", with errors: {found}" if found else ""))
        if cases := _find_other_cases(farm, template, file):
            farm.templates.store_cases(template.id, cases)
            print(f"{file.with_suffix('')} stored")
    return 1 if errors else 0


def diff_templates(arguments: argparse.Namespace) -> int:
    """Print how files differ from the live content of their templates; return 1 if one does."""
    farm, differs = _open(arguments), False
    for file in _list_files(arguments.files):
        template = _find(farm, file.stem)
        stored = template.content or "" if template else ""
        lines = unified_diff(
            stored.splitlines(keepends=True),
            _text(read_file(file)).splitlines(keepends=True),
            f"farm/{file.stem}",
            str(file),
        )
        for line in lines:
            differs = True
            print(line, end="" if line.endswith("\n") else "\n\\ No newline at end of file\n")
        if template and _find_other_cases(farm, template, file):
            differs = True
            print(f"The cases in {file.with_suffix('')} are not those of the farm.")
    return 1 if differs else 0


def tag_template(arguments: argparse.Namespace) -> Result:
    """Let a tag name a version of a template."""
    templates = _open(arguments).templates
    template_id = templates.read(arguments.template).id
    guarded = arguments.guarded or None
    tag = templates.set_tag(template_id, arguments.tag, arguments.version, guarded=guarded)
    return {"template": arguments.template, **asdict(tag)}


def approve_template(arguments: argparse.Namespace) -> Result:
    """Approve a version that another key published, once its stored cases have passed."""
    farm = _open(arguments)
    template_id = farm.templates.read(arguments.template).id
    report = run_stored(farm, arguments.template, arguments.version)
    found = farm.templates.approve(template_id, arguments.version, cases=report)
    shown = {"template": arguments.template, "version": arguments.version}
    return shown | {"approved_by": [each.key_id for each in found]}


def publish_template(arguments: argparse.Namespace) -> Result:
    """Store a file as the live content of a template, and publish that as a version."""
    content = read_file(arguments.document)
    templates = _open(arguments).templates
    template = templates.replace(templates.read(arguments.template).id, content)
    errors = (template.findings or {}).get("errors", 0)
    if errors and not arguments.yes and not _is_confirmed(errors):
        raise CommandFailed(
            f"{arguments.document} has errors that every document of it would have: {errors}. It "
            f"is stored, and not published; `pressroom validate {arguments.document}` lists them, "
            "--yes publishes nevertheless"
        )
    version = templates.publish(template.id, message=arguments.message, if_match=template.etag)
    return {"template": template.id, **asdict(version)}


def _open(arguments: argparse.Namespace) -> Pressroom:
    return Pressroom(*read_credentials(arguments))


def _find(farm: Pressroom, slug: str) -> Template | None:
    """Return the template of a slug with its content; None if the slug is available."""
    state = farm.slugs.check(slug)
    return None if state.available else farm.templates.read(slug)


def _find_other_cases(farm: Pressroom, template: Template, file: Path) -> bytes | None:
    """Return the cases in the folder of a template, None if there are none or the farm has the same."""
    cases = pack_cases(file.with_suffix(""))
    return cases if cases != farm.templates.read_cases(template.id) else None


def _list_files(given: Sequence[Path]) -> Iterator[Path]:
    for path in given:
        yield from sorted(path.glob("*.xml")) if path.is_dir() else [path]


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _is_confirmed(errors: int) -> bool:
    """Ask whether to publish a template with errors; without a terminal nobody can be asked."""
    if not sys.stdin.isatty():
        return False
    return input(f"The template has {errors} errors. Publish it anyway? [y/N] ").lower() == "y"
