"""The text output of commands: aligned, nested by indentation, without control characters."""

from deploy.cli.output import print_result, write_table
from deploy.cli.status import write_status


def test_a_value_of_several_is_shown_line_by_line(capsys):
    used = {"production": {"pages": 10, "max_pages": None}, "plan": "free", "names": ["ü"]}
    print_result(used, as_json=False)
    assert capsys.readouterr().out == (
        'production:\n  pages: 10\n  max_pages: -\nplan: free\nnames: ["ü"]\n'
    )


def test_control_characters_of_clients_are_escaped(capsys):
    print_result({"error": {"message": "a\x1b[2J\u202eb\x9b"}}, as_json=False)
    assert capsys.readouterr().out == "error:\n  message: a\\x1b[2J\\u202eb\\x9b\n"
    assert write_table(["name"], [["\x1b[31m"]]) == "name\n\\x1b[31m"


def test_a_table_is_as_wide_as_its_widest_cells():
    rows = [["a", "1"], ["longer", ""]]
    assert write_table(["name", "n"], rows) == "name    n\na       1\nlonger"


def test_a_drained_queue_is_at_the_top_of_the_status():
    queue = {"name": "batch", "waiting": 0, "oldest_seconds": None, "running": 0}
    farm = {"url": None, "data": None, "looked_at": "now"}
    for since, told in ((None, False), ("then", True)):
        queues = [{**queue, "drained_since": since}]
        found = {"farm": farm, "problems": [], "stores": {}, "queues": queues}
        head, _, _ = write_status(found).partition("\n\n")
        assert ("drained until resumed by an operator: batch" in head) is told
