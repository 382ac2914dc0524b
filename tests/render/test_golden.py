"""What people read, kept as files: look at the difference before you accept it.

``python -m tests.render.test_golden`` writes the files anew; nobody edits them by hand. Those
with ``colour`` in their names hold escape sequences: ``cat`` shows them as they are meant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from blockwire.render import TerminalLook, transcript_text
from blockwire.render.documents import DocumentFormat, open_document
from blockwire.render.projector import message_turn
from tests.render.blocks import TYPES, project_all, show_blocks
from tests.render.pages import document
from tests.render.showcase import REQUESTS, SHOWCASE
from tests.render.turns import block, message

GOLDEN: Final = Path(__file__).parent / "golden"
LOOKS: Final[dict[str, TerminalLook]] = {
    "40": TerminalLook(columns=40, escapes=False, colour=False),
    "80": TerminalLook(columns=80, escapes=False, colour=False),
    "80-colour": TerminalLook(columns=80),
    "80-no-colour": TerminalLook(columns=80, colour=False),
    "40-ambiguous": TerminalLook(columns=40, escapes=False, colour=False, ambiguous_width=2),
}
ROWS: Final = [f"{name}-{look}.txt" for name in SHOWCASE for look in LOOKS]
# Not .md: a formatter would take them for documentation.
SUFFIXES: Final[dict[str, DocumentFormat]] = {
    "html": "html",
    "markdown.txt": "markdown",
    "text.txt": "text",
}
DOCUMENTS: Final = [f"{name}.{suffix}" for name in SHOWCASE for suffix in SUFFIXES]
BLOCKS: Final = [f"{name}-blocks-{kind}.txt" for name in SHOWCASE for kind in ("lines", "plain")]
"""Terminal Blocks, one below a line of its own; of lines, their layouts and styles too."""
PAGE: Final = "page.html"
"""A whole page; the other files hold what stands between its head and its tail."""
FILES: Final = [*ROWS, *DOCUMENTS, *BLOCKS, PAGE]
HELLO: Final = message(block("prose", markdown="Hello."), created_at=1_767_225_600_000)


def rendered(file: str) -> str:
    if file == PAGE:
        return document("html", [HELLO], title="A page", created_at=1_767_225_600_000)
    if file in BLOCKS:
        name, kind = file.removesuffix(".txt").split("-blocks-")
        types = TYPES[0] if kind == "lines" else ()
        turns = [
            message_turn(message, REQUESTS.get(str(message["id"])) if name == "waiting" else None)
            for message in SHOWCASE[name]
        ]
        return "".join(show_blocks(project_all([turn], types)) for turn in turns)
    if file in DOCUMENTS:
        name, suffix = file.split(".", 1)
        opened = open_document(SUFFIXES[suffix])
        opened.head()
        return "".join(map(opened.message, SHOWCASE[name]))
    name, look = file.removesuffix(".txt").split("-", 1)
    requests = REQUESTS if name == "waiting" else None
    return transcript_text(SHOWCASE[name], LOOKS[look], with_reasoning=True, requests=requests)


@pytest.mark.parametrize("file", FILES)
def test_people_see_what_the_golden_file_shows(file: str) -> None:
    assert rendered(file) == (GOLDEN / file).read_bytes().decode()


def test_no_golden_file_is_left_over() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(FILES)


def write(folder: Path = GOLDEN) -> None:
    for file in FILES:
        (folder / file).write_bytes(rendered(file).encode())


def test_the_files_can_be_written_anew(tmp_path: Path) -> None:
    write(tmp_path)

    assert (tmp_path / FILES[0]).read_bytes() == (GOLDEN / FILES[0]).read_bytes()


if __name__ == "__main__":  # pragma: no cover - a program, not a test
    write()
