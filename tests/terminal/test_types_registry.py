"""One module and one row make a type: shown with one that nobody needs."""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pytest

import blockwire.terminal
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json
from blockwire.terminal.content import Content, ContentRefusal, ContentType, Data, Line, Span, Style
from blockwire.terminal.types import CONTENT_TYPES, fits, layouts, lines, read_fragment, styles
from blockwire.terminal.types.plain import PlainContent
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED


@dataclasses.dataclass(frozen=True)
class LoudType:
    """A text in capitals."""

    name: str = "text/loud"
    shape: Any = "text"

    def read_data(self, value: Json) -> Data:
        if not isinstance(value, str):
            raise RemoteProtocolError("invalid_message", "text is a string", pointer="")
        return value

    def refuse_data(self, data: Data) -> ContentRefusal | None:
        return None if isinstance(data, str) and data == data.upper() else "invalid_content"

    def new_content(self, data: Data) -> Content:
        assert isinstance(data, str)
        return PlainContent(data)

    def schema(self) -> Json:
        return {"type": "string"}


WITH_LOUD: Final[Mapping[str, ContentType]] = MappingProxyType(
    {**CONTENT_TYPES, "text/loud": LoudType()}
)


@pytest.mark.requirement("terminal:types:one-contract")
def test_another_type_is_one_more_row() -> None:
    loud = WITH_LOUD["text/loud"]
    data = loud.read_data("HEY")
    assert loud.refuse_data(data) is None
    assert loud.refuse_data("hey") == "invalid_content"
    with pytest.raises(RemoteProtocolError):
        loud.read_data(1)
    assert loud.schema() == {"type": "string"}
    assert loud.new_content(data).text() == "HEY"
    assert fits("text/loud", "!", WITH_LOUD)
    assert not fits("text/loud", (), WITH_LOUD)
    assert "text/loud" not in CONTENT_TYPES


@pytest.mark.requirement("terminal:types:baseline")
def test_the_baseline_comes_first_and_each_type_knows_its_name() -> None:
    assert list(CONTENT_TYPES) == [PLAIN, STYLED, LINES]
    assert [content_type.name for content_type in CONTENT_TYPES.values()] == list(CONTENT_TYPES)
    assert [content_type.shape for content_type in CONTENT_TYPES.values()] == [
        "text",
        "spans",
        "lines",
    ]


FRAGMENTS: Final[list[tuple[Data, set[str]]]] = [
    ("", {PLAIN}),
    ("a", {PLAIN}),
    ((), {STYLED, LINES}),
    ((Span(text=""),), {STYLED}),
    ((Line(spans=()),), {LINES}),
]


@pytest.mark.parametrize(("fragment", "names"), FRAGMENTS)
@pytest.mark.requirement("terminal:types:shape")
def test_the_shape_of_a_fragment_says_which_types_it_fits(fragment: Data, names: set[str]) -> None:
    assert {name for name in CONTENT_TYPES if fits(name, fragment)} == names


def test_what_types_share_is_exported() -> None:
    assert blockwire.terminal.CONTENT_TYPES is CONTENT_TYPES


LINK: Final = "http://a/"
COSTS: Final[list[tuple[str, Any, int]]] = [
    (PLAIN, "aé漢😀", 1 + 2 + 3 + 4),
    (STYLED, [{"text": "a"}, {"text": "é"}], 3),
    (STYLED, [{"text": "a", "style": {"link": LINK}}], 1 + styles.STYLE_COST_BYTES + len(LINK)),
    (LINES, [], 0),
    (LINES, [{"spans": []}, {"spans": [{"text": "a"}]}], 2 + 2 * lines.LINE_COST_BYTES),
    (
        LINES,
        [
            {
                "spans": [],
                "layout": {"first_prefix": [{"text": "é", "style": {"foreground": "red"}}]},
            }
        ],
        lines.LINE_COST_BYTES
        + layouts.LAYOUT_COST_BYTES
        + layouts.PREFIX_RUN_COST_BYTES
        + 2
        + styles.STYLE_COST_BYTES,
    ),
]


@pytest.mark.parametrize(("name", "value", "cost_bytes"), COSTS)
@pytest.mark.requirement("terminal:types:cost")
def test_a_content_counts_with_all_that_it_keeps(name: str, value: Any, cost_bytes: int) -> None:
    content_type = CONTENT_TYPES[name]
    assert content_type.new_content(content_type.read_data(value)).cost_bytes == cost_bytes


def test_equal_styles_are_kept_once_and_not_too_many_of_them() -> None:
    shared: styles.Shared[Style] = styles.Shared()
    first = shared.share(Style(foreground="#000000"))
    assert shared.share(Style(foreground="#000000")) is first
    for number in range(styles.SHARED_VALUES_MAX):
        shared.share(Style(foreground=f"#{number:06x}", background="red"))
    assert shared.share(Style(foreground="#000000")) is not first
    assert len(shared._known) <= styles.SHARED_VALUES_MAX


def test_what_every_message_repeats_is_kept_once() -> None:
    value: list[Any] = [{"text": "a", "style": {"foreground": "red"}}, {"text": "b"}]
    line: Any = {"spans": value, "layout": {"wrap": "none"}}
    styled = CONTENT_TYPES[STYLED].new_content(read_fragment(value, is_empty_allowed=False))
    laid_out = CONTENT_TYPES[LINES].new_content(read_fragment([line], is_empty_allowed=False))
    for _ in range(3):
        styled.extend(read_fragment(value, is_empty_allowed=False))
        laid_out.extend(read_fragment([{"spans": []}, line], is_empty_allowed=False))

    (in_text,) = styled.lines()
    assert len({id(span.style) for span in in_text.spans[::2]}) == 1
    lines_of = list(laid_out.lines())
    assert len({id(it.layout) for it in lines_of}) == 1
    assert len({id(it.spans[0].style) for it in lines_of}) == 1


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_lines_are_read_from_within_the_text_whatever_is_asked_for(name: str) -> None:
    value: dict[str, Any] = {
        PLAIN: "a\nb",
        STYLED: [{"text": "a\nb"}],
        LINES: [{"spans": [{"text": "a"}]}, {"spans": [{"text": "b"}]}],
    }
    content = CONTENT_TYPES[name].new_content(CONTENT_TYPES[name].read_data(value[name]))
    assert [line.start for line in content.lines(-3)] == [0, 2]
    assert [line.start for line in content.lines(99)] == [2]
