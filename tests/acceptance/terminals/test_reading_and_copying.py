"""Who reads further up is not moved, and what is copied is the text: situations 7, 8, 10 and 11."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.terminals.blocksprogram import blocks_program
from tests.acceptance.terminals.conftest import Place, until_answered
from tests.acceptance.terminals.oracle import check_host
from tests.acceptance.terminals.outer import Outer, term

pytestmark = pytest.mark.timeout(120)

HINT: Final = "▼"
DONE: Final = b"\x1b]2;done\x1b\\"
COMMAND: Final = " ".join(
    ["printf '%s;'", *(f"'word {it:02} and more'" for it in range(15)), "end"]
)

assert len(COMMAND) > 300


def read_on(outer: Outer, go: Path) -> list[str]:
    """Let the program write until it is done; return what stood in the first row meanwhile."""
    assert DONE not in outer.output
    go.touch()
    tops = outer.watch(lambda: outer.rows[0], lambda: DONE in outer.output)
    outer.until_shown(HINT)
    return [*tops, outer.rows[0]]


@pytest.mark.situation("T07")
def test_t07_who_scrolls_up_while_an_answer_arrives_finds_the_first_line(tmp_path: Path) -> None:
    """anthropics/claude-code #87450."""
    go = tmp_path / "go"
    program = blocks_program(
        ["print", "the first line\n"],
        ["block", "answer", ""],
        ["repeat", 60, [["extend", "answer", "early {n}\n"]]],
        ["until", str(go)],
        ["every", 3, 300, [["extend", "answer", "late {n}\n"]]],
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("early 59")
        outer.keys("shift-page-up")
        outer.until_shown("reading")
        tops = read_on(outer, go)
        assert set(tops) == {tops[0]}
        outer.keys("shift-home")
        outer.until(lambda: outer.rows[0] == "the first line")
        assert outer.rows[1:23] == [f"early {it}" for it in range(22)]
        outer.keys("end")
        outer.until_shown("late 299")
        outer.keys("x")

        assert outer.exit_status() == 0
        early, late = (
            [f"{it} {n}" for n in range(count)] for it, count in (("early", 60), ("late", 300))
        )
        assert outer.transcript() == ["the first line", *early, *late]
    check_host(outer.output)


@pytest.mark.situation("T08")
def test_t08_ordinary_output_does_not_pull_a_reader_down(tmp_path: Path) -> None:
    """anthropics/claude-code #82703."""
    go = tmp_path / "go"
    program = blocks_program(
        ["block", "answer", "\n".join(f"line {it}" for it in range(60))],
        ["print", "$ make &\n"],
        ["until", str(go)],
        ["every", 5, 100, [["print", "background {n}\n"]]],
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("$ make")
        outer.mouse("up", 10, 10)
        outer.mouse("up", 10, 10)
        outer.until_shown("reading")
        before = outer.rows[:23]
        assert HINT not in outer.screen_text()
        tops = read_on(outer, go)
        assert set(tops) == {tops[0]}
        # All that was read is where it was; the last rows are those that came below it.
        assert [it for it in outer.rows[:23] if it.startswith("line")] == [
            it for it in before if it.startswith("line")
        ]
        outer.keys("end")
        outer.until_shown("background 99")
        assert HINT not in outer.screen_text()
        outer.keys("x")

        assert outer.exit_status() == 0
    check_host(outer.output)


@pytest.mark.situation("T10")
def test_t10_what_is_painted_over_the_text_is_not_copied(tmp_path: Path) -> None:
    """anthropics/claude-code #89236 and manaflow-ai/cmux #5680."""
    go = tmp_path / "go"
    lines = [f"line {it:02} " + "abcdefghij" * 6 + " end" for it in range(60)]
    program = blocks_program(
        ["block", "answer", "\n".join(lines)],
        ["until", str(go)],
        ["block", "more", "more text"],
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("line 59")
        outer.keys("shift-home")
        outer.until_shown("line 00")
        read_on(outer, go)
        # The whole window but for the row in which the hint stands.
        outer.mouse("press", 0, 0)
        outer.mouse("drag", 79, 22)
        outer.mouse("release", 79, 22)
        outer.until(outer.copied)
        assert outer.copied() == ["\n".join(lines[:23])]
        assert HINT in outer.screen_text()
        # Under the help, and by keys.
        outer.keys("prefix", "[", "g", "V", *"jjjj", "?")
        outer.until_shown("After Ctrl-]")
        outer.keys("q", "y")
        outer.until(lambda: len(outer.copied()) == 2)
        assert outer.copied()[1] == "\n".join(lines[:5])
        outer.keys("x")

        assert outer.exit_status() == 0
    check_host(outer.output)


@pytest.mark.situation("T11")
@pytest.mark.parametrize("where", ["block", "print"])
def test_t11_a_wrapped_command_is_copied_in_one_line(where: str) -> None:
    """anthropics/claude-code #22073."""
    shown = ["block", "one", COMMAND] if where == "block" else ["print", f"{COMMAND}\n"]
    with Outer(term(*blocks_program(["print", "above\n"], shown, ["key"]))) as outer:
        outer.until(lambda: any(row.endswith("end") for row in outer.rows))
        assert not outer.rows[1].endswith("end"), "it is wrapped"
        for _ in range(3):
            outer.mouse("press", 5, 2)
            outer.mouse("release", 5, 2)
        # Copied with each of two clicks: a word, then the line.
        outer.until(lambda: len(outer.copied()) == 2)
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.copied()[-1] == COMMAND
        assert outer.transcript()[0] == "above"


@pytest.mark.situation("T11")
def test_t11_a_command_that_was_typed_in_a_shell_is_copied_in_one_line() -> None:
    """anthropics/claude-code #22073."""
    shell = ("bash", "--norc", "--noprofile", "-i")
    with Outer(term(*shell), env={"PS1": "$ ", "INPUTRC": "/dev/null"}) as outer:
        outer.until_shown("$")
        outer.keys(f": {COMMAND}")
        outer.until(lambda: any(row.endswith("end") for row in outer.rows))
        for _ in range(3):
            outer.mouse("press", 5, 1)
            outer.mouse("release", 5, 1)
        outer.until(lambda: len(outer.copied()) == 2)
        outer.keys("ctrl-c")
        outer.until(lambda: "$" in outer.rows)
        outer.keys("exit 0", "enter")

        assert outer.exit_status() == 0
        assert outer.copied()[-1] == f"$ : {COMMAND}"


@pytest.mark.situation("T11")
def test_t11_a_command_in_an_answer_is_copied_in_one_line(place: Place) -> None:
    """anthropics/claude-code #22073."""
    place.say(
        "it", f"Run\n\n```sh\n{COMMAND}\n```\n\nor\n\n> {COMMAND}\n\nor\n\n{COMMAND}\n\nThat is it."
    )
    with Outer(term(*place.chat()), env=place.env, rows=40) as outer:
        outer.until_shown("Ask something")
        outer.keys("how to do it", "enter")
        until_answered(outer, "That is it.")
        starts = [row for row, text in enumerate(outer.rows) if "printf" in text]
        for count, row in enumerate(starts, 1):
            for _ in range(3):
                outer.mouse("press", 20, row)
                outer.mouse("release", 20, row)
            outer.until(lambda: outer.copied().count(COMMAND) == count)  # noqa: B023 - called at once
        outer.keys("ctrl-d")

        assert outer.exit_status() == 0
        assert len(starts) == 3
