"""Where the terminal shows no Blocks, something of the program's does, behind the same handles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.terminal import (
    AppendOnlyFallback,
    ContextEnded,
    ContextHandle,
    ShownBlock,
    Span,
    printed,
)
from blockwire.terminal.content import Data, Layout, Line
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.terminal.plays import Play


class Telling:
    """A fallback that writes down what it is told."""

    def append(self, block: ShownBlock) -> bytes:
        return f"append {text_of(block)} {block.lifecycle}|".encode()

    def extend(self, block: ShownBlock, fragment: Data) -> bytes:
        return f"extend {fragment} {text_of(block)}|".encode()

    def replace_suffix(self, block: ShownBlock, retain: int, replacement: Data) -> bytes:
        return f"replace {retain} {replacement} {text_of(block)}|".encode()

    def update(self, block: ShownBlock) -> bytes:
        return f"update {block.type} {text_of(block)}|".encode()

    def seal(self, block: ShownBlock) -> bytes:
        return f"seal {block.block_id} {text_of(block)}|".encode()


def text_of(block: ShownBlock) -> str:
    assert block.content is not None
    return block.content.text()


def begin(play: Play) -> ContextHandle:
    play.application.skip("not_a_terminal")
    return play.application.open_context()


@pytest.mark.requirement("terminal:application:fallback")
def test_a_fallback_is_told_of_every_change_behind_the_same_handles() -> None:
    play = Play(fallback=Telling())
    context = begin(play)

    block = context.append("a")
    context.append("s", lifecycle="sealed")
    block.extend("b")
    block.extend("")
    block.replace_suffix(1, "c")
    play.application.write(b"prompt|")
    block.update([Span(text="n")], type=STYLED)
    context.append("open")
    block.seal()
    context.close()

    assert play.write().decode() == (
        "append a mutable|append s sealed|extend b ab|replace 1 c ac|prompt|update text/styled n|"
        "append open mutable|seal b1 n|seal b3 open|"
    )
    assert play.application.tick(play.now_s) == [ContextEnded(context)]
    assert (context.state, block.content, play.change_count) == ("closed", None, 9)


def test_every_type_that_is_known_may_be_used() -> None:
    play = Play(fallback=Telling())
    begin(play)

    assert play.application.content_types == {PLAIN, STYLED, LINES}


def test_what_is_finished_is_printed_whole_and_in_the_order_of_appending() -> None:
    play = Play(fallback=AppendOnlyFallback())
    context = begin(play)

    context.append("first", lifecycle="sealed")
    assert play.write() == b"first\n"
    slow = context.append("sl")
    context.append("behind", lifecycle="sealed")
    last = context.append("last")
    slow.extend("o")
    slow.replace_suffix(2, "owly")
    last.update("LAST")
    assert play.write() == b""
    slow.seal()
    assert play.write() == b"slowly\nbehind\n"
    context.append("end")
    change_count = play.change_count
    assert play.application.finish_fallback() == [ContextEnded(context)]
    assert play.change_count > change_count, "a driver is told that something waits"
    assert play.write() == b"LAST\nend\n"
    assert play.application.finish_fallback() == []


PRINTED: list[tuple[str, Data, str]] = [
    (PLAIN, "", "\n"),
    (PLAIN, "a\r\nb\rc\n", "a\nb\nc\n"),
    (PLAIN, "a\tb", "a\tb\n"),
    (PLAIN, "\x1b[31m\x9b\u202e", "\u241b[31m<U+009B><U+202E>\n"),
    (STYLED, (Span(text="a"), Span(text="\x07b")), "a\u2407b\n"),
    (
        LINES,
        (
            Line(spans=(Span(text="item"),), layout=Layout(first_prefix=(Span(text="\u2022 "),))),
            Line(spans=()),
        ),
        "\u2022 item\n\n",
    ),
]


@pytest.mark.parametrize(("type_name", "data", "expected"), PRINTED)
def test_how_content_is_printed(type_name: str, data: Data, expected: str) -> None:
    assert printed(CONTENT_TYPES[type_name].new_content(data)).decode() == expected


@pytest.mark.requirement("terminal:application:fallback-labels")
@given(st.text())
def test_nothing_that_is_printed_acts(text: str) -> None:
    shown = printed(CONTENT_TYPES[PLAIN].new_content(text)).decode()

    acting = {char for char in shown if char < " " or "\x7f" <= char <= "\x9f"}
    assert acting <= {"\n", "\t"}
