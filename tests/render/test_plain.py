"""Plain text: what each block says in it, and that a stream of it never takes anything back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.content import BlockState
from blockwire.render import PlainStream, block_text, message_text, plain_text, value_text
from blockwire.render.plain import VALUE_CHARS_MAX
from tests.content.test_vectors import vectors
from tests.render.turns import block, grown, message, turn

ERROR = block("error", code="engine_failed", message="It broke.", retryable=True)
TEXTS: list[tuple[dict[str, Any], str]] = [
    (block("prose", markdown="# Hi *you*"), "# Hi *you*"),
    (block("code", text="x = 1\n", language="py"), "x = 1\n"),
    (block("reasoning", text="Hm."), "Hm."),
    (block("speech", text="Hello."), "Hello."),
    (ERROR, "It broke."),
    (block("notice", code="cancelled", message="Stopped."), "Stopped."),
    (
        block("attachment", attachment_id="att_1", name="a.png", media_type="image/png"),
        "a.png (image/png)",
    ),
    (block("tool", tool="ls", status="running"), "ls (running)"),
    (
        block("tool", tool="ls", status="failed", input={"path": "/"}, output="", error="no"),
        'ls (failed)\ninput: {"path":"/"}\noutput: \nerror: no',
    ),
    (block("chart", fallback_text="A chart."), "[chart] A chart."),
    (block("chart", fallback_text=""), "[chart]"),
    (block("chart", fallback_text={"no": "text"}), "[chart]"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "text"), TEXTS)
def test_each_type_of_block_has_its_text(item: dict[str, Any], text: str) -> None:
    assert block_text(item) == text


@pytest.mark.parametrize("case", vectors("text"), ids=lambda case: case["name"])
def test_the_vectors_of_plain_text_hold(case: Any) -> None:
    assert message_text(case["message"]) == case["text"]
    assert message_text(case["message"], with_reasoning=True) == case["with_reasoning"]
    assert [block_text(item) for item in case["message"]["content"]] == case["blocks"]


@pytest.mark.requirement("render:text:bounded-values")
def test_a_long_value_is_cut_and_says_how_much_is_missing() -> None:
    assert value_text("x" * VALUE_CHARS_MAX) == "x" * VALUE_CHARS_MAX
    assert value_text("x" * 2345) == "x" * 2000 + "… (345 more characters)"
    assert value_text([1, None]) == "[1,null]"


@pytest.mark.requirement("render:text:blank-line")
def test_a_blank_line_parts_blocks_and_empty_ones_leave_no_gap() -> None:
    said = message(
        block("prose", markdown="one"),
        block("prose", markdown=""),
        block("reasoning", text="hm"),
        block("code", text="two"),
    )

    assert message_text(said) == "one\n\ntwo"
    assert message_text(said, with_reasoning=True) == "one\n\nhm\n\ntwo"


@pytest.mark.requirement("render:text:labels")
def test_plain_text_keeps_line_feed_and_tab_and_labels_every_other_control() -> None:
    said = message(block("prose", markdown="a\tb\r\nc\rd\x1b[31m\x07\x85\u202e"))

    assert plain_text(said) == "a\tb\nc\nd␛[31m␇<U+0085><U+202E>\n"


def test_plain_text_ends_its_last_line_once() -> None:
    assert plain_text(message()) == ""
    assert plain_text(message(block("prose", markdown="a"))) == "a\n"
    assert plain_text(message(block("prose", markdown="a\n"))) == "a\n"


def test_prose_is_given_out_delta_by_delta() -> None:
    stream = PlainStream()

    given = [stream.show_turn(state) for state in grown([block("prose", markdown="abcd")], 2)]

    assert given == ["", "", "ab", "cd", ""]
    assert stream.finish() == "\n"


def test_other_blocks_are_given_out_when_they_are_complete() -> None:
    stream = PlainStream()
    opened = BlockState(block("tool", tool="ls", status="running"), is_open=True)
    done = opened.completed({**opened.block, "status": "completed"})
    later = BlockState(block("code", 2, text="x"), is_open=False)

    assert stream.show_turn(turn(opened)) == ""
    assert stream.show_turn(turn(opened, later)) == ""
    assert stream.show_turn(turn(done, later)) == "ls (completed)\n\nx"
    assert stream.show_turn(turn(done, later)) == ""


def test_finishing_gives_out_open_blocks_as_they_stand() -> None:
    stream = PlainStream()
    prose = BlockState(block("prose", markdown="Looking"), is_open=True)
    tool = BlockState(block("tool", 2, tool="ls", status="running"), is_open=True)
    state = turn(prose, tool)

    text = stream.show_turn(state) + stream.finish()

    assert text == plain_text(state.message) == "Looking\n\nls (running)\n"
    assert stream.finish() == ""


def test_turns_are_parted_by_a_blank_line_and_silent_ones_leave_none() -> None:
    stream = PlainStream()
    said = BlockState(block("prose", markdown="hi"), is_open=False)

    assert stream.show_turn(turn(turn_id="turn_0")) == ""
    assert stream.show_turn(turn(said)) == "hi"
    assert stream.show_turn(turn(turn_id="turn_2")) == "\n"
    assert stream.show_turn(turn(said, turn_id="turn_3")) == "\nhi"
    assert stream.finish() == "\n"


def test_reasoning_is_given_out_only_on_request() -> None:
    thought = BlockState(block("reasoning", text="hm"), is_open=True)

    assert PlainStream().show_turn(turn(thought)) == ""
    assert PlainStream(with_reasoning=True).show_turn(turn(thought)) == "hm"


TEXT = st.text(st.sampled_from("ab \t\r\n\x1b\x85\U0001f3f4\U000e0067\U000e0062\U000e007f"))
BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: block("prose", markdown=text), TEXT),
        st.builds(lambda text: block("reasoning", text=text), TEXT),
        st.builds(lambda text: block("code", text=text), TEXT),
        st.builds(lambda text: block("tool", tool="t" + text, status="completed"), TEXT),
    ),
    max_size=4,
)


@pytest.mark.requirement("render:text:append-only")
@given(BLOCKS, st.integers(1, 9), st.booleans())
@example([block("prose", markdown="a\r"), block("prose", markdown="b")], 1, False)
@example([block("prose", markdown="a\r\nb")], 1, False)
@example([block("prose", markdown="\U0001f3f4" + "\U000e0067" * 3 + "\U000e007f")], 1, False)
def test_what_a_stream_gave_out_is_a_prefix_of_the_whole(
    blocks: list[dict[str, Any]], pieces: int, with_reasoning: bool
) -> None:
    whole = plain_text(message(*blocks), with_reasoning=with_reasoning)
    stream = PlainStream(with_reasoning=with_reasoning)
    given_out = ""

    for state in grown(blocks, pieces):
        given_out += stream.show_turn(state)
        assert whole.startswith(given_out)

    assert given_out + stream.finish() == whole
