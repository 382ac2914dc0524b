"""The work for one more token does not depend on what came before it.

Characters handed to the parser are counted, not seconds: counts are the same on every machine.
"""

from __future__ import annotations

from typing import Any

import pytest
from markdown_it import MarkdownIt

from blockwire.content import BlockState
from blockwire.render import MarkdownStream, TerminalLook, TranscriptStream
from blockwire.render.projector import TerminalProjector
from tests.render.blocks import TYPES, ContentTerminal
from tests.render.turns import block, turn

LOOK = TerminalLook(columns=80)


class Count:
    """Counts the characters that the parser is given."""

    def __init__(self) -> None:
        self.chars = 0


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Count:
    count = Count()
    for name in ("parse", "parseInline"):
        _count_calls(monkeypatch, name, count)
    return count


def _count_calls(monkeypatch: pytest.MonkeyPatch, name: str, count: Count) -> None:
    method = getattr(MarkdownIt, name)

    def counting(self: MarkdownIt, src: str, env: Any = None) -> Any:
        count.chars += len(src)
        return method(self, src, env)

    monkeypatch.setattr(MarkdownIt, name, counting)


def stream(text: str, token_chars: int) -> int:
    """Stream ``text`` in tokens; return how many rows came out."""
    markdown = MarkdownStream(LOOK)
    rows = 0
    for start in range(0, len(text), token_chars):
        rows += len(markdown.feed(text[start : start + token_chars]).rows)
    return rows + len(markdown.finish().rows)


ANSWER = (
    "Some words of *prose* that go on for a while, as answers do, with `code` in them.\n\n"
    "- one item\n- another item\n\n```py\nprint(1)\nprint(2)\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted words\n\n"
)


@pytest.mark.requirement("render:markdown:linear")
def test_a_token_of_a_long_answer_costs_what_one_of_a_short_answer_costs(parsed: Count) -> None:
    costs: dict[int, float] = {}
    for tokens in (500, 2_000, 8_000):
        parsed.chars = 0
        stream((ANSWER * (tokens * 4 // len(ANSWER) + 1))[: tokens * 4], 4)
        costs[tokens] = parsed.chars / tokens

    assert costs[8_000] < costs[500] * 1.1
    assert costs[500] < 100


LONG: list[tuple[str, str, int]] = [
    ("one fence", "```py\n" + "x = 'some code of a line'  # ..\n" * 8_000 + "```\n", 1),
    ("a table", "| a | b |\n|---|---|\n" + "| some | cells |\n" * 5_000, 2),
    ("a list", "- an item of a list\n" * 5_000, 3),
    ("a loose list", "- an item of a list\n\n" * 2_000, 3),
    ("a nested list", "- a\n" + "  - an item of a list\n" * 1_000, 10),
    ("a quote", "> some words in a quote\n" * 2_000, 10),
    ("fences in one item", "- a\n" + "\n  ```\n  code\n  ```\n" * 600, 150),
    ("one line", "word " * 60_000, 30),
    ("one paragraph", ("word " * 15 + "\n") * 4_000, 15),
    ("blank lines", "\n" * 10_000, 2),
    ("indented code", "    some indented code\n" * 2_000, 10),
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.requirement("render:markdown:linear")
@pytest.mark.parametrize(("text", "cost"), [row[1:] for row in LONG], ids=[row[0] for row in LONG])
def test_no_long_block_is_parsed_more_than_a_constant_number_of_times(
    parsed: Count, text: str, cost: int
) -> None:
    stream(text, 5)

    assert parsed.chars <= cost * len(text)


@pytest.mark.requirement("render:markdown:linear")
@pytest.mark.case("M08")
def test_a_fence_of_300_kilobytes_streams_in_60000_deltas(parsed: Count) -> None:
    text = "```py\n" + "x = 'some code of a line of code'  # ..\n" * 7_500 + "```\n"
    transcript = TranscriptStream(LOOK)
    prose = BlockState(block("prose", markdown=""), is_open=True)
    printed_chars = 0

    for start in range(0, len(text), 5):
        prose = prose.with_text(text[start : start + 5])
        printed_chars += len(transcript.show_turn(turn(prose)))
    printed_chars += len(transcript.finish())

    assert printed_chars > len(text)
    assert parsed.chars < 100


def projected(text: str, token_chars: int) -> ContentTerminal:
    """Project every state of a block that says ``text`` in the end."""
    terminal = ContentTerminal()
    projector = TerminalProjector("m", TYPES[0])
    prose = BlockState(block("prose", markdown=""), is_open=True)
    for start in range(0, len(text), token_chars):
        prose = prose.with_text(text[start : start + token_chars])
        terminal.apply(projector.project(turn(prose)))
    terminal.apply(projector.project(turn(prose.completed(), status="completed")))
    return terminal


@pytest.mark.requirement("render:projector:linear")
def test_a_token_in_blocks_costs_what_is_new(parsed: Count) -> None:
    costs: list[float] = []
    for tokens in (250, 1_000):
        parsed.chars = 0
        text = (ANSWER * (tokens * 4 // len(ANSWER) + 1))[: tokens * 4]
        terminal = projected(text, 4)
        costs.append(parsed.chars / tokens)
        assert terminal.data_bytes < 100 * tokens

    assert costs[1] < costs[0] * 1.1


@pytest.mark.exhaustive
@pytest.mark.timeout(300)
@pytest.mark.requirement("render:projector:linear")
def test_a_token_in_blocks_costs_the_same_in_long_answers(parsed: Count) -> None:
    costs: dict[int, float] = {}
    carried: dict[int, float] = {}
    for tokens in (500, 2_000, 8_000, 32_000):
        parsed.chars = 0
        text = (ANSWER * (tokens * 4 // len(ANSWER) + 1))[: tokens * 4]
        carried[tokens] = projected(text, 4).data_bytes / tokens
        costs[tokens] = parsed.chars / tokens

    assert costs[32_000] < costs[500] * 1.1
    assert costs[500] < 60
    assert carried[32_000] < carried[500] * 1.1
    assert carried[500] < 100


# What, its source, characters parsed and bytes carried for one of the source.
BLOCKS: list[tuple[str, str, float, float]] = [
    ("one fence", "```py\n" + "x = 'some code of a line'  # ..\n" * 9_400 + "```\n", 0.3, 16),
    ("a line of code", "```py\n" + "x" * 100_000, 0.1, 2),
    ("a table", "| a | b |\n|---|---|\n" + "| some | cells |\n" * 5_000, 20, 12),
    ("a list", "- an item of a list\n" * 2_000, 12, 15),
    ("one paragraph", ("word " * 15 + "\n") * 1_000, 30, 2),
    ("a quote", "> some words in a quote\n" * 1_000, 32, 2),
]


@pytest.mark.exhaustive
@pytest.mark.timeout(300)
@pytest.mark.requirement("render:projector:linear")
@pytest.mark.parametrize(
    ("text", "cost", "carried"), [row[1:] for row in BLOCKS], ids=[row[0] for row in BLOCKS]
)
def test_no_long_block_is_carried_more_than_a_constant_number_of_times(
    parsed: Count, text: str, cost: float, carried: float
) -> None:
    terminal = projected(text, 20)

    assert parsed.chars <= cost * len(text)
    assert terminal.data_bytes <= carried * len(text)
