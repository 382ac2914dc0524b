"""The vectors of content types: they are what their program writes, and we come to the same."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.errors import RemoteProtocolError
from blockwire.terminal.content import Content
from blockwire.terminal.types import CONTENT_TYPES, project_line, read_fragment
from tests.suites import PROJECT
from tests.terminal.contents import as_json
from vectors import generate_terminal_types

FOLDER: Final = PROJECT / "vectors" / "terminal"


def vectors(name: str) -> list[Any]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [json.JSONDecoder().decode(line) for line in lines]


ROWS: Final = [row for name in generate_terminal_types.FILES for row in vectors(name)]


@pytest.mark.parametrize("name", generate_terminal_types.FILES)
def test_the_files_are_what_the_program_writes(name: str, tmp_path: Path) -> None:
    generate_terminal_types.main([str(tmp_path)])
    assert (FOLDER / name).read_bytes() == (tmp_path / name).read_bytes()


def outcome(content: Content, step: dict[str, Any]) -> str | None:
    """Do a step and return why it was refused."""
    is_extend = "extend" in step
    value = step["extend"] if is_extend else step["replacement"]
    try:
        added = read_fragment(value, is_empty_allowed=not is_extend)
    except RemoteProtocolError as error:
        return error.code
    if is_extend:
        if refusal := content.refuse_extend(added):
            return refusal
        content.extend(added)
    else:
        if refusal := content.refuse_replace_suffix(step["retain"], added):
            return refusal
        content.replace_suffix(step["retain"], added)
    return None


def new_content(row: dict[str, Any]) -> Content | str:
    """Return the content, or why its data is refused."""
    content_type = CONTENT_TYPES[row["type"]]
    try:
        data = content_type.read_data(row["data"])
    except RemoteProtocolError as error:
        return error.code
    return content_type.refuse_data(data) or content_type.new_content(data)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['type']} {row['name']}")
def test_a_vector_comes_out(row: dict[str, Any]) -> None:
    content = new_content(row)
    if row["code"] is not None:
        assert content == row["code"]
        return
    assert not isinstance(content, str)
    for step in row["steps"]:
        assert (outcome(content, step), content.text()) == (step["code"], step["text"])
    assert as_json(content.data()) == row["content"]
    assert content.text() == row["text"]
    if "lines" in row:
        lines = [
            project_line("".join(span.text for span in line.spans)) for line in content.lines()
        ]
        assert [{"shown": it.shown, "copied": it.searchable} for it in lines] == row["lines"]


# What no single content shows: costs, selections, what only a screen of some width has.
UNSEEN: Final = {
    "terminal:lines:prefix-gives-way",
    "terminal:plain:one-projection",
    "terminal:plain:tab-copied",
    "terminal:plain:whole-clusters",
    "terminal:types:baseline",
    "terminal:types:cost",
    "terminal:types:linear",
    "terminal:types:memory",
    "terminal:types:one-contract",
}


def test_vectors_prove_what_the_pages_demand_of_the_wire() -> None:
    named = {
        requirement
        for row in ROWS
        for requirement in (
            row["requirement"] if isinstance(row["requirement"], list) else [row["requirement"]]
        )
    }
    folder = PROJECT / "docs" / "spec" / "terminal"
    pages = [
        (folder / f"{page}.md").read_text(encoding="utf-8")
        for page in ("content-types", "plain-text", "styled", "lines")
    ]
    stated = {found for page in pages for found in re.findall(r"\[(terminal:[a-z:-]+)\]", page)}
    assert stated - named == UNSEEN
    assert named - stated == set()
