"""What growing and cutting cost: counted, not timed, so that a busy machine changes nothing."""

import tracemalloc
from collections.abc import Callable
from typing import Any, Final, cast

import pytest

from blockwire.jsontext import decode_json, encode_json
from blockwire.terminal.content import Content, Line, Span, Style
from blockwire.terminal.types import CONTENT_TYPES
from blockwire.terminal.types.pieces import CHUNK_CHARS, WAITING_PIECES_MAX
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.support.counting import calls_in

WINDOW: Final = 1_000
OPERATIONS: Final = (20 * WINDOW, pytest.param(100 * WINDOW, marks=pytest.mark.exhaustive))
STYLES: Final = (Style(foreground="red"), Style(link="https://example.org/"))

Step = Callable[[int], Any]

# Type, first data, the n-th fragment of 20 scalars.
GROWTHS: Final[list[tuple[str, Any, Step]]] = [
    (PLAIN, "", lambda _: "twenty characters é\n"),
    (STYLED, (), lambda n: (Span(text="twenty characters é\n", style=STYLES[n % 2]),)),
    (LINES, (), lambda n: (Line(spans=(Span(text="nineteen characters", style=STYLES[n % 2]),)), Line(spans=()))),
]  # fmt: skip


by_type = pytest.mark.parametrize(
    ("name", "data", "fragment"), GROWTHS, ids=[name for name, _data, _fragment in GROWTHS]
)


def grown(name: str, data: Any, fragment: Step, operations: int) -> Content:
    content = CONTENT_TYPES[name].new_content(data)
    for number in range(operations):
        content.extend(fragment(number))
    return content


@by_type
@pytest.mark.parametrize("operations", OPERATIONS)
@pytest.mark.requirement("terminal:types:linear")
def test_the_last_of_many_extends_costs_what_the_first_does(
    name: str, data: Any, fragment: Step, operations: int
) -> None:
    def extend() -> None:
        for number in range(WINDOW):
            assert content.refuse_extend(fragment(number)) is None
            assert content.growth_bytes(content.scalar_count, fragment(number)) > 0
            content.extend(fragment(number))

    content = CONTENT_TYPES[name].new_content(data)
    extend()
    first = calls_in(extend)
    for number in range(operations):
        content.extend(fragment(number))
    last = calls_in(extend)

    assert content.scalar_count == (operations + 3 * WINDOW) * 20
    assert last <= first * 1.05


@by_type
@pytest.mark.parametrize("operations", OPERATIONS)
@pytest.mark.requirement("terminal:types:linear")
def test_replacing_an_end_costs_what_is_replaced(
    name: str, data: Any, fragment: Step, operations: int
) -> None:
    def replace() -> None:
        for number in range(WINDOW):
            retain = content.scalar_count - 7
            assert content.refuse_replace_suffix(retain, fragment(number)) is None
            assert content.growth_bytes(retain, fragment(number)) > 0
            content.replace_suffix(retain, fragment(number))

    counts = []
    for before in (WINDOW, operations):
        content = grown(name, data, fragment, before)
        counts.append(calls_in(replace))
    small, large = counts
    assert large <= small * 1.05


@by_type
def test_what_one_change_copies_beyond_itself_is_bounded(
    name: str, data: Any, fragment: Step
) -> None:
    content: Any = grown(name, data, fragment, 1_000)
    text = content._text if name == PLAIN else content._styled._text
    assert {len(text._piece(index)) for index in range(len(text._chunks))} == {CHUNK_CHARS}
    assert text._waiting_chars < CHUNK_CHARS
    assert len(text._waiting) <= WAITING_PIECES_MAX


@by_type
@pytest.mark.requirement("terminal:types:memory")
def test_it_takes_little_more_memory_than_its_text(name: str, data: Any, fragment: Step) -> None:
    tracemalloc.start()
    try:
        content = grown(name, data, fragment, 5_000)
        held_bytes, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held_bytes <= 3 * len(content.text().encode())
    assert content.cost_bytes * 3 >= held_bytes


ALL_ATTRIBUTES: Final = ["bold", "dim", "italic", "underline", "strikethrough", "inverse"]


def costly(number: int) -> dict[str, Any]:
    """Return a style with as much in it as there can be, and no other like it."""
    colours = {"foreground": f"#{number:06x}", "background": f"#{number:06x}"}
    return {**colours, "attributes": ALL_ATTRIBUTES, "link": f"http://a/{number}"}


def costly_prefix(number: int) -> list[dict[str, Any]]:
    """Return a prefix in as many runs as there can be, every other one without a style."""
    styled = ({"text": "漢", "style": costly(64 * number + place)} for place in range(0, 64, 2))
    return [span for pair in styled for span in (pair, {"text": "漢"})]


# Every run and every line has what no other has.
COSTLY: Final[list[tuple[str, Step, int]]] = [
    (STYLED, lambda n: {"text": "a", "style": costly(n)}, 3_000),
    (STYLED, lambda n: {"text": "a", "style": costly(n)} if n % 2 else {"text": "a"}, 3_000),
    (STYLED, lambda n: {"text": "a", "style": {"link": f"http://a/{n}"}}, 3_000),
    (LINES, lambda n: {"spans": [], "layout": {"first_prefix": [{"text": f"{n}"}]}}, 3_000),
    (
        LINES,
        lambda n: {
            "spans": [],
            "layout": {
                "wrap": "none",
                "first_prefix": [{"text": f"{n}", "style": {"foreground": f"#{n:06x}"}}],
                "rest_prefix": [{"text": f"{n}", "style": {"background": f"#{n:06x}"}}],
                "fill": {"background": f"#{n:06x}"},
            },
        },
        1_000,
    ),
    (
        LINES,
        lambda n: {
            "spans": [],
            "layout": {
                "first_prefix": costly_prefix(2 * n),
                "rest_prefix": costly_prefix(2 * n + 1),
            },
        },
        50,
    ),
    (LINES, lambda _: {"spans": []}, 3_000),
]


@pytest.mark.parametrize(("name", "element", "count"), COSTLY)
@pytest.mark.requirement("terminal:types:memory", "terminal:types:cost")
def test_nothing_is_kept_for_much_less_than_it_takes(name: str, element: Step, count: int) -> None:
    # A wire brings each text anew; only what is kept then counts.
    texts = [encode_json([element(number)]) for number in range(count)]
    value: list[Any] = []
    tracemalloc.start()
    try:
        content_type = CONTENT_TYPES[name]
        value = [element for text in texts for element in cast("list[Any]", decode_json(text))]
        content = content_type.new_content(content_type.read_data(value))
        value.clear()
        held_bytes, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held_bytes <= 3 * content.cost_bytes + 10_000


def test_reading_from_the_end_does_not_read_the_beginning() -> None:
    for name, data, fragment in GROWTHS:
        counts = []
        for operations in (2 * CHUNK_CHARS, 8 * CHUNK_CHARS):
            content = grown(name, data, fragment, operations)
            last = content.scalar_count - 1
            counts.append(calls_in(lambda: list(content.lines(last))))  # noqa: B023 - called at once
        small, large = counts
        assert large <= small + 2
