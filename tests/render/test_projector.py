"""Whatever states of a message are seen, Blocks show the last one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.content import BlockState, TurnState
from blockwire.render.blockoperations import (
    AppendBlock,
    ExtendBlock,
    ReplaceSuffix,
    SealBlock,
    UpdateBlock,
)
from blockwire.render.projector import TerminalProjector, message_turn
from blockwire.terminal import Layout, Line, Span, Style, is_valid_link
from tests.render.blocks import TYPES, ContentTerminal, project_all
from tests.render.markdowns import characters, documents
from tests.render.places import PLACES
from tests.render.showcase import SHOWCASE
from tests.render.turns import block, grown, message, turn

LINES = TYPES[0]
REQUEST: dict[str, Any] = {
    "id": "r",
    "kind": "question",
    "prompt": "Which?",
    "options": ["a", {"b": 1}],
}
OTHERS: list[dict[str, Any]] = [
    block("error", code="failed", message="It\tbroke.\nAll of it", retryable=True),
    block("notice", message="By the way"),
    block("attachment", attachment_id="a", name="a.png", media_type="image/png"),
    block("speech", text="spoken"),
    block("weather", fallback_text="sunny"),
    block("code", text="x = 1\n", language="py"),
]


@st.composite
def scripts(draw: st.DrawFn) -> list[TurnState]:
    """Return the states of a turn, several of its blocks open at once."""
    state = turn()
    states = [state]
    for _step in range(draw(st.integers(1, 14))):
        open_at = [at for at, item in enumerate(state.blocks) if item.is_open]
        what = draw(st.sampled_from(["new", "text", "text", "end", "ask", "author"]))
        if what == "new":
            state = state.with_new_block(draw(_new_blocks(len(state.blocks) + 1)))
        elif what == "ask":
            asked = state.request is None
            status, request = ("suspended", REQUEST) if asked else ("streaming", None)
            state = state.with_status(status, request=request)
        elif what == "author":
            state = state.with_status(
                state.status, request=state.request, envelope={**state.envelope, "model": "m-1"}
            )
        elif open_at:
            at = draw(st.sampled_from(open_at))
            changed = draw(_changes(state.blocks[at], is_end=what == "end"))
            state = state.with_block(at, changed)
        states.append(state)
    if draw(st.booleans()):
        for at, item in enumerate(state.blocks):
            if item.is_open:
                state = state.with_block(at, draw(_changes(item, is_end=True)))
                states.append(state)
        states.append(state.with_status("completed"))
    return states


def _texts() -> st.SearchStrategy[str]:
    return documents() | characters()


def _new_blocks(number: int) -> st.SearchStrategy[BlockState]:
    name = {"id": f"block_{number}"}
    return st.one_of(
        _texts().map(
            lambda text: BlockState({**block("prose", markdown=text), **name}, is_open=True)
        ),
        _texts().map(
            lambda text: BlockState({**block("reasoning", text=text), **name}, is_open=True)
        ),
        st.just(BlockState({**block("tool", tool="t", status="pending"), **name}, is_open=True)),
        st.sampled_from(OTHERS).map(lambda item: BlockState({**item, **name}, is_open=False)),
    )


def _changes(state: BlockState, *, is_end: bool) -> st.SearchStrategy[BlockState]:
    if state.type == "tool":
        if is_end:
            done = {**state.block, "status": "completed", "output": "a\nb"}
            return st.just(state.completed(done))
        return st.just(state.with_members({"status": "running", "input": {"a": 1}}))
    if not is_end:
        return _texts().map(state.with_text)
    # What a block is in the end need not be what its deltas said.
    final = _texts().map(lambda text: {**state.block, state.field or "": "x" + text})
    return st.just(state.completed()) | final.map(state.completed)


def _without_emptied(terminal: ContentTerminal) -> list[Any]:
    return [data for data in terminal.shown()[:-1] if data] + terminal.shown()[-1:]


@pytest.mark.requirement("render:projector:last-state")
@pytest.mark.requirement("render:projector:same-state")
@given(scripts(), st.data(), st.sampled_from(TYPES), st.booleans())
def test_any_states_that_end_in_the_last_one_show_the_last_one(
    states: list[TurnState], data: st.DataObject, types: tuple[str, ...], with_reasoning: bool
) -> None:
    seen = data.draw(st.lists(st.booleans(), min_size=len(states), max_size=len(states)))
    some = [state for state, is_seen in zip(states[:-1], seen, strict=False) if is_seen]

    at_once = project_all(states[-1:], types, with_reasoning=with_reasoning)
    terminal = project_all([*some, states[-1]], types, with_reasoning=with_reasoning)

    assert _without_emptied(terminal) == _without_emptied(at_once)
    if states[-1].is_terminal:
        assert terminal.sealed == set(terminal.blocks)


@pytest.mark.slow
@pytest.mark.requirement("render:projector:last-state")
@given(documents() | characters())
@example("1. a\n\n- b\n")
@example("Title\n---\nab\n\n| a |\n|---|\n| wide cell |\n")
@example("> a\n\n```py\nif x\n\n```")
def test_prose_that_grows_is_at_every_character_what_it_is_at_once(source: str) -> None:
    steps = list(grown([block("prose", markdown=source[:50])], pieces=1))
    projector = TerminalProjector("m", LINES)
    terminal = ContentTerminal()

    for state in steps:
        terminal.apply(projector.project(state))
        at_once = project_all([state], LINES)
        assert _without_emptied(terminal) == _without_emptied(at_once)


def told(*states: TurnState, types: tuple[str, ...] = ()) -> list[list[Any]]:
    """Return the operations that each state needs."""
    projector = TerminalProjector("m", types, with_reasoning=True)
    return [projector.project(state) for state in states]


def prose(text: str) -> TurnState:
    """Return a turn whose open block says ``text``."""
    return turn(BlockState(block("prose", markdown=text), is_open=True))


@pytest.mark.requirement("render:projector:operations")
def test_a_turn_in_plain_text_step_by_step() -> None:
    steps = list(grown([block("prose", markdown="Hi *you*!")], pieces=4))
    ended = steps[-1].with_status("completed")

    assert told(*steps, ended, ended, steps[0]) == [
        [AppendBlock("m/0", "text/plain", "assistant"), AppendBlock("m/1", "text/plain", "\n…")],
        [],
        [UpdateBlock("m/1", "\nHi *"), AppendBlock("m/2", "text/plain", "\n…")],
        [ReplaceSuffix("m/1", 4, "you")],
        [ExtendBlock("m/1", "!")],
        [SealBlock("m/1")],
        [UpdateBlock("m/2", ""), SealBlock("m/0"), SealBlock("m/2")],
        [],
        [],
    ]


CYAN = Style(foreground="cyan")
HANGING = Layout(first_prefix=(Span(text="1. ", style=CYAN),), rest_prefix=(Span(text="   "),))
ITEM = Line(spans=(Span(text="b"),), layout=HANGING)
TITLE = Line(spans=(Span(text="a", style=Style(attributes=("bold",))),))

CHANGES: list[tuple[str, str, str, tuple[str, ...], list[Any]]] = [
    ("more words", "a", "a b", LINES, [ExtendBlock("m/1", (Line(spans=(Span(text=" b"),)),))]),
    ("another line", "    a", "    a\n    b", (), [ExtendBlock("m/1", "\nb")]),
    ("a mark that closes", "a *b", "a *b*", (), [ReplaceSuffix("m/1", 3, "b")]),
    ("fewer lines", "a\n\nb\n=", "a\n\nb\n==", LINES, []),
    ("what was text is an item", "a\n\n1", "a\n\n1. b", LINES, [ReplaceSuffix("m/1", 4, (ITEM,))]),
    ("what was text is a heading", "a\n-", "a\n--", LINES, []),
    ("words that are a heading", "a\n", "a\n-", LINES, [ReplaceSuffix("m/1", 1, (TITLE,))]),
    ("a line that is no more", "```\nx\n``", "```\nx\n```", (), [ReplaceSuffix("m/1", 2, "")]),
]  # fmt: skip


@pytest.mark.requirement("render:projector:operations")
@pytest.mark.parametrize(
    ("before", "after", "types", "operations"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)  # fmt: skip
def test_a_change_costs_what_is_new(
    before: str, after: str, types: tuple[str, ...], operations: list[Any]
) -> None:
    first = prose(before)
    second = first.with_block(0, first.blocks[0].with_text(after[len(before) :]))

    assert told(first, second, types=types)[1] == operations


def test_an_empty_block_keeps_its_place_once_it_was_seen() -> None:
    first = prose("a")
    emptied = first.with_block(0, first.blocks[0].completed(block("prose", markdown="")))

    assert told(first, emptied)[1] == [UpdateBlock("m/1", ""), SealBlock("m/1")]


def test_text_that_turns_out_to_be_another_is_shown_as_it_is() -> None:
    first = prose("abc")
    other = first.with_block(0, BlockState(block("prose", markdown="ab"), is_open=True))

    assert told(first, other)[1] == [UpdateBlock("m/1", "\nab")]


def test_the_end_of_a_block_may_bring_the_rest_of_its_text() -> None:
    first = prose("abc")
    longer = first.with_block(0, first.blocks[0].completed(block("prose", markdown="abcd")))

    assert told(first, longer)[1] == [ExtendBlock("m/1", "d"), SealBlock("m/1")]


def test_a_message_that_ended_shows_all_of_a_block_that_nobody_completed() -> None:
    first = prose("word " * 400)
    more = first.with_block(0, first.blocks[0].with_text("and more"))

    terminal = project_all([first, more, more.with_status("failed")], ())

    assert project_all([first, more], ()).texts()[1].endswith("word")
    assert terminal.texts()[1].endswith("and more")
    assert terminal.sealed == set(terminal.blocks)


@pytest.mark.requirement("render:projector:reasoning")
def test_reasoning_is_there_when_it_is_permitted_and_says_something() -> None:
    thinking = block("reasoning", text=" \n")
    state = turn(BlockState(thinking, is_open=True))
    more = state.with_block(0, state.blocks[0].with_text("so"))

    assert project_all([state], ()).texts() == ["assistant", "\n…"]
    assert project_all([state, more], ()).texts() == ["assistant", "\nthinking\n  so", "\n…"]
    assert project_all([more], (), with_reasoning=False).texts() == ["assistant", "\n…"]


@pytest.mark.requirement("render:projector:order")
def test_a_block_is_sealed_when_those_above_it_are() -> None:
    tool = BlockState(block("tool", 1, tool="t", status="running"), is_open=True)
    note = BlockState(block("notice", 2, message="n"), is_open=False)
    running = turn(tool, note)
    done = running.with_block(0, tool.completed(block("tool", 1, tool="t", status="completed")))

    first, second = told(running, done)

    assert [operation for operation in first if isinstance(operation, SealBlock)] == []
    assert second[1:] == [SealBlock("m/1"), SealBlock("m/2")]


def test_a_message_as_it_stands_may_still_change() -> None:
    said = message(block("prose", markdown="so"), block("prose", markdown="far"))

    assert project_all([message_turn({**said, "status": "streaming"})], ()).sealed == set()
    assert project_all([message_turn(said)], ()).sealed == {"m/0", "m/1", "m/2", "m/3"}


@pytest.mark.requirement("render:projector:valid")
@pytest.mark.parametrize("payload", ["\x1b[2J", "\r\n\t\x9b", "\u202eabc", "\u2028", "\x00"])
@pytest.mark.parametrize("types", TYPES)
def test_no_text_breaks_a_rule_of_its_type(payload: str, types: tuple[str, ...]) -> None:
    for _name, place in PLACES:
        terminal = project_all([message_turn(place(payload), REQUEST)], types)
        for text in terminal.texts():
            assert not any(char in text for char in "\x1b\r\x9b\u202e\u2028\x00")


@pytest.mark.requirement("render:projector:valid")
@given(_texts(), st.sampled_from(TYPES))
@example("> " * 31 + "- a\n", LINES)
@example("> " * 40 + "    code\n", LINES)
@example("1234567890. a\n   - b\n     - c\n       - d\n" * 3, LINES)
def test_prose_is_valid_however_deep_it_is(source: str, types: tuple[str, ...]) -> None:
    project_all([prose(source)], types)


@pytest.mark.requirement("render:projector:links")
def test_only_what_a_terminal_takes_for_a_link_becomes_one() -> None:
    source = "[a](https://a.b/c) [d](https://user@a.b) [e](ftp://a.b) <mailto:f@g.h>"
    content = project_all([prose(source)], LINES).blocks["m/1"]
    spans = [span for line in content.lines() for span in line.spans if span.style]
    links = {span.style.link for span in spans if span.style and span.style.link}

    assert links == {"https://a.b/c", "mailto:f@g.h"}
    assert all(is_valid_link(link) for link in links)


@pytest.mark.parametrize("name", SHOWCASE)
def test_styles_and_layouts_change_no_word(name: str) -> None:
    for shown in SHOWCASE[name]:
        styled, plain = (project_all([message_turn(shown)], types) for types in TYPES[1:])

        assert styled.texts() == plain.texts()
