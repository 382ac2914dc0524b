"""Conversations of the reference vectors and of ours, bytes in and replies out."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pytest

from tests.spec.requirements import stated
from tests.suites import PROJECT, handed_vectors
from tests.terminal.sessions import differences
from vectors.generate_terminal_session import script_row, session_text
from vectors.terminal_session_inputs import SCRIPTS

OURS: Final = [script_row(script) for script in SCRIPTS]


@pytest.mark.parametrize("row", OURS, ids=lambda row: str(row["name"]))
@pytest.mark.requirement(
    "terminal:request:equality",
    "terminal:error:schema-or-shape",
    "terminal:error:structure-first",
    "terminal:error:who",
    "terminal:security:silent",
)
def test_a_conversation_of_ours_goes_as_written(row: dict[str, Any]) -> None:
    assert list(differences(row)) == []


def test_the_vectors_are_those_that_the_program_writes() -> None:
    written = (PROJECT / "vectors" / "terminal" / "session.jsonl").read_bytes()

    assert written == session_text(), "run python -m vectors.generate_terminal_session"


def test_a_conversation_has_a_name_of_its_own_and_requirements_that_exist() -> None:
    known = {name for statement in stated() for name in statement.requirement_ids}

    assert max(Counter(row["name"] for row in OURS).values()) == 1
    assert {name for row in OURS for name in row["requirement"]} <= known


def test_every_requirement_that_the_wire_shows_has_a_conversation() -> None:
    # What no conversation of one terminal can show: time, memory, its own failures, its log, and
    # what it answers beside messages.
    unseen = {"cost", "fail-stop", "no-pretence", "no-content", "answer-too-long", "unread",
              "attributes"}  # fmt: skip
    pages = {"contexts.md", "operations.md", "errors.md", "limits.md"}
    stated_ids = {
        name
        for statement in stated()
        if statement.page.removeprefix("terminal/") in pages
        for name in statement.requirement_ids
        if name.rpartition(":")[2] not in unseen
    }

    assert stated_ids - {name for row in OURS for name in row["requirement"]} == set()


def test_a_row_that_says_something_else_is_found_out() -> None:
    row = OURS[0]
    wrong_out = {**row, "steps": [{**row["steps"][0], "out": []}, *row["steps"][1:]]}
    wrong_end = {**row, "final_contexts": []}

    assert len(list(differences(wrong_out))) == 1
    assert len(list(differences(wrong_end))) == 1


def test_the_handed_conversations_that_are_normative_go_as_written() -> None:
    rows = [row for row in handed_vectors("session.jsonl") if row["normative"]]

    found = {row["name"]: list(differences(row)) for row in rows}

    assert len(rows) > 90
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_of_the_other_handed_conversations_one_goes_another_way() -> None:
    """A type that is not on offer is no fault of the schema here; the drafts say so, too."""
    rows = [row for row in handed_vectors("session.jsonl") if not row["normative"]]

    assert [row["name"] for row in rows if list(differences(row))] == ["unnegotiated content type"]
