"""The rows of the prompt: in any room, what matters most is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.text import label_controls, width
from blockwire.tui.asked import Asked, Choice
from blockwire.tui.completion import Candidate
from blockwire.tui.editor import Editor
from blockwire.tui.outbox import Question
from blockwire.tui.promptrows import PromptSpan, fit, join_sides
from blockwire.tui.promptview import PromptParts, lay_out_prompt
from blockwire.tui.tokens import amount_words, elapsed_words
from tests.tui.core.typists import row_text

TEXTS = st.text(st.sampled_from("ab 東\n\t\x1b👩\u200d💻\u0301"), max_size=60)


@st.composite
def parts(draw: st.DrawFn) -> PromptParts:
    editor = Editor()
    editor.set_text(draw(TEXTS))
    for _step in range(draw(st.integers(0, 3))):
        editor.do("up")
    choices = [Choice("", label, label) for label in draw(st.lists(TEXTS, max_size=12))]
    asked = Asked("turn_1", "req_1", draw(TEXTS), tuple(choices), {})
    candidates = [Candidate(text, text) for text in draw(st.lists(TEXTS, max_size=12))]
    is_chosen, is_selected = draw(st.tuples(st.booleans(), st.booleans()))
    return PromptParts(
        editor,
        hint=draw(st.sampled_from(["", "Ask something"])),
        questions=[Question("k", text) for text in draw(st.lists(TEXTS, max_size=6))],
        files=draw(st.lists(TEXTS, max_size=2)),
        asked=draw(st.sampled_from([None, asked])),
        choice=len(choices) - 1 if choices and is_chosen else None,
        candidates=candidates,
        selected=len(candidates) - 1 if candidates and is_selected else None,
        activity=PromptSpan(draw(TEXTS), "activity"),
        facts=draw(TEXTS),
    )


@pytest.mark.requirement("chat:prompt:fits")
@given(shown=parts(), columns=st.integers(1, 60), rows_max=st.integers(1, 24))
def test_the_prompt_fits_and_shows_the_cursor(
    shown: PromptParts, columns: int, rows_max: int
) -> None:
    prompt = lay_out_prompt(shown, columns, rows_max)

    assert 1 <= len(prompt.rows) <= rows_max
    assert all(width(row_text(row)) <= columns for row in prompt.rows)
    for row in prompt.rows:
        assert label_controls(row_text(row), breaks="label", tabs="label") == row_text(row)
    assert 0 <= prompt.cursor_row < len(prompt.rows)
    assert 0 <= prompt.cursor_column < columns
    roles = [[span.role for span in row] for row in prompt.rows]
    if columns >= 12:
        assert "mark" in roles[prompt.cursor_row]
    if rows_max >= 6 and shown.asked is not None and shown.choice is not None:
        assert ["selected"] in roles


def test_everything_in_its_order() -> None:
    editor = Editor()
    editor.type("/")
    asked = Asked("t", "r", "Delete?", (Choice("y", "yes", True),), {})
    shown = PromptParts(
        editor,
        questions=[Question("k", f"Question {number}") for number in range(6)],
        files=["a.png", "b.png"],
        asked=asked,
        candidates=[Candidate("/new", "begin"), Candidate("/open", "list")],
        selected=0,
        activity=PromptSpan("answering", "activity"),
        facts="mine",
    )

    rows = [row_text(row) for row in lay_out_prompt(shown, 30, 24).rows]

    assert rows == [
        "to be sent: Question 0",
        "to be sent: Question 1",
        "to be sent: Question 2",
        "and 3 more",
        "with a.png, b.png",
        "Delete?",
        "  y yes",
        "> /",
        "  /new   begin",
        "  /open  list",
        "answering                 mine",
    ]
    assert [row_text(row) for row in lay_out_prompt(shown, 30, 1).rows] == ["> /"]
    assert [row_text(row) for row in lay_out_prompt(shown, 30, 2).rows] == ["Delete?", "> /"]
    assert row_text(lay_out_prompt(shown, 10, 1).rows[0]) == "/"


def test_a_long_question_is_cut_and_its_answers_stay() -> None:
    prompt = "\n".join(f"line {number}" for number in range(30))
    asked = Asked("t", "r", prompt, (Choice("y", "yes", True), Choice("n", "no", False)), {})
    rows = [row_text(row) for row in lay_out_prompt(PromptParts(Editor(), asked=asked), 30, 8).rows]

    assert rows == ["line 0", "line 1", "line 2", "\u2026", "  y yes", "  n no", "> ", ""]


def test_a_line_that_is_too_long_says_so() -> None:
    assert fit("abc", 3) == "abc"
    assert fit("abcd", 3) == "ab\u2026"
    assert fit("東京都", 4) == "東\u2026"
    assert fit("abc", 0) == ""
    assert fit("a\nb\x1b", 10) == "a\u240ab\u241b"


def test_two_sides_of_a_row() -> None:
    left, right = PromptSpan("left", "activity"), PromptSpan("right", "status")

    assert row_text(join_sides(left, right, 12)) == "left   right"
    assert row_text(join_sides(left, right, 9)) == "left"
    assert row_text(join_sides(left, right, 3)) == "le\u2026"
    assert row_text(join_sides(PromptSpan("", "status"), right, 8)) == "   right"
    assert join_sides(PromptSpan("", "status"), PromptSpan("", "status"), 8) == ()


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0"), (999, "999"), (1_000, "1.0k"), (1_234, "1.2k"), (34_567, "35k"),
        (999_499, "999k"), (999_500, "1.0M"), (12_345_678, "12M"),
    ],
)  # fmt: skip
def test_amounts_are_short(count: int, words: str) -> None:
    assert amount_words(count) == words


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [(-1, "0 s"), (7.9, "7 s"), (125, "2 min 05 s"), (3720, "1 h 02 min")],
)
def test_durations_are_short(duration_s: float, words: str) -> None:
    assert elapsed_words(duration_s) == words
