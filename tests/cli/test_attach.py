"""Files that go with a question, and come back."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.support.programs import decoded

pytestmark = pytest.mark.timeout(60)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))

# Says how large the files are that its request names.
READER = """
import json, os, sys
question = json.load(sys.stdin)["messages"][-1]
files = [block for block in question["content"] if block["type"] == "attachment"]
print(", ".join(f"{os.path.basename(f['path'])}: {os.path.getsize(f['path'])}" for f in files))
"""


@pytest.fixture
def config(home: Path) -> str:
    program = home / "reader.py"
    program.write_text(READER, encoding="utf-8")
    path = home / "c.toml"
    command = json.dumps([sys.executable, str(program)])
    path.write_text(
        f'engine = "reader"\n[engines.reader]\nkind = "command"\ncommand = {command}\n',
        encoding="utf-8",
    )
    return str(path)


def attached(shown: Any) -> list[dict[str, Any]]:
    return [
        block for message in shown for block in message["content"] if block["type"] == "attachment"
    ]


def test_files_go_with_a_question_and_come_back(blockwire: Run, home: Path, config: str) -> None:
    (home / "chart.png").write_bytes(PNG)
    (home / "notes.txt").write_text("hi", encoding="utf-8")

    asked = blockwire("ask", "--config", config, "-a", "chart.png", "-a", "notes.txt", "What?")

    assert (asked.status, asked.err) == (0, "")
    assert asked.out == f"chart.png: {len(PNG)}, notes.txt: 2\n"
    shown = blockwire("show", "--json")
    assert shown.status == 0, shown.err
    chart, notes = attached([decoded(line) for line in shown.out.splitlines()])
    assert (chart["name"], chart["media_type"]) == ("chart.png", "image/png")
    assert (notes["name"], notes["media_type"]) == ("notes.txt", "text/plain")

    saved = blockwire("download", chart["attachment_id"], "-o", "again.png")

    assert saved.status == 0, saved.err
    assert (home / "again.png").read_bytes() == PNG
    refused = blockwire("download", chart["attachment_id"], "-o", "again.png")
    assert refused.status == 1
    assert "--force" in refused.err
    assert blockwire("download", notes["attachment_id"]).out == "hi"
    assert blockwire("download", notes["attachment_id"], "-o", "-").out == "hi"
    assert "chart.png" in blockwire("show").out


def test_a_question_whose_file_is_refused_leaves_no_conversation(
    blockwire: Run, home: Path, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "large.bin").write_bytes(bytes(1_048_577))
    monkeypatch.setenv("BLOCKWIRE_ATTACHMENT_MIB", "1")

    asked = blockwire("ask", "--config", config, "-a", "large.bin", "What?")

    assert asked.status == 1
    assert "attachment_too_large" in asked.err
    assert blockwire("list", "--json").out == ""


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (("ask", "-a", "none.txt", "x"), 2, "none.txt"),
        (("ask", "-a", ".", "x"), 2, "directory"),
        (("download", "att_none", "-o", "x"), 1, "attachment_not_found"),
        (("download", "../x", "-o", "x"), 2, "is no id"),
        (("download", "att_x", "-o", "."), 1, "folder"),
    ],
)
def test_what_cannot_be_done_is_said(
    blockwire: Run,
    home: Path,
    config: str,
    arguments: tuple[str, ...],
    status: int,
    sentence: str,
) -> None:
    blockwire("ask", "--config", config, "x")

    ended = blockwire(*arguments)

    assert ended.status == status
    assert sentence in ended.err
    assert not (home / "x").exists()
