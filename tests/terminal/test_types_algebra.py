"""Growing and cutting, for all types, against models that are too simple to be wrong."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from blockwire.terminal.content import Content, LogicalLine
from blockwire.terminal.types import CONTENT_TYPES, pieces, read_fragment
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.terminal.contents import (
    TEXTS,
    LinesModel,
    PlainModel,
    StyledModel,
    as_json,
    lines,
    spans,
)

MODELS: Final[dict[str, Any]] = {PLAIN: PlainModel, STYLED: StyledModel, LINES: LinesModel}
DATA: Final[dict[str, st.SearchStrategy[Any]]] = {PLAIN: TEXTS, STYLED: spans(), LINES: lines()}


@pytest.fixture(scope="module", autouse=True)
def _small_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "CHUNK_CHARS", 5)
        patch.setattr(pieces, "WAITING_PIECES_MAX", 3)
        yield


def test_every_type_has_a_model() -> None:
    assert MODELS.keys() == CONTENT_TYPES.keys()


def new_content(name: str, value: Any) -> Content:
    data = CONTENT_TYPES[name].read_data(value)
    assert CONTENT_TYPES[name].refuse_data(data) is None
    return CONTENT_TYPES[name].new_content(data)


def read(value: Any) -> Any:
    return read_fragment(value, is_empty_allowed=True)


def check(name: str, content: Content, model: Any) -> None:
    """Compare a content with its model in everything that can be seen of it."""
    text = model.text()
    data: Any = as_json(content.data())
    assert model.spell(data) == model.spelled()
    assert content.text() == text
    assert content.scalar_count == len(text)
    # What it says of itself is complete, and a normal form.
    again = new_content(name, data)
    assert again.data() == content.data()
    assert again.cost_bytes == content.cost_bytes >= len(text.encode())
    whole = list(content.lines())
    assert [line.start for line in whole] == list(starts(whole))
    assert shown_text(content, whole) == text
    for at in range(len(text) + 1):
        holding = [line for line in whole if line.start <= at][-1]
        assert list(content.lines(at)) == whole[whole.index(holding) :]


def starts(whole: list[LogicalLine]) -> Iterator[int]:
    start = 0
    for line in whole:
        yield start
        start += sum(len(span.text) for span in line.spans) + line.break_chars


def shown_text(content: Content, whole: list[LogicalLine]) -> str:
    """Return what the lines show, with the breaks that their numbers are about."""
    text, parts = content.text(), []
    for line in whole:
        parts += [span.text for span in line.spans]
        end = line.start + sum(len(span.text) for span in line.spans)
        parts.append(text[end : end + line.break_chars])
    return "".join(parts)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
@pytest.mark.requirement("terminal:types:extend-joins", "terminal:types:suffix-joins")
@pytest.mark.requirement("terminal:types:refusal-changes-nothing", "terminal:types:scalars")
@pytest.mark.requirement("terminal:types:cost")
@pytest.mark.requirement("terminal:styled:cut-keeps-style", "terminal:lines:joined-by-lf")
def test_a_content_is_its_model(name: str, data: DataObject) -> None:
    value = data.draw(DATA[name])
    content, model = new_content(name, value), MODELS[name](value)
    check(name, content, model)
    for _ in range(data.draw(st.integers(0, 5))):
        fragment, text = data.draw(DATA[name]), model.text()
        added = MODELS[name](fragment).text()
        if not text or data.draw(st.booleans()):
            is_refused = content.refuse_extend(read(fragment)) is not None
            assert is_refused == model.refuses(fragment)
            if not is_refused:
                expected_bytes = content.cost_bytes
                expected_bytes += content.growth_bytes(len(text), read(fragment))
                content.extend(read(fragment))
                assert content.cost_bytes == expected_bytes
                model.extend(fragment)
                assert content.text() == text + added
        else:
            retain = data.draw(st.integers(0, len(text) - 1))
            is_refused = content.refuse_replace_suffix(retain, read(fragment)) is not None
            assert is_refused == model.refuses(fragment, retain)
            if not is_refused:
                expected_bytes = content.cost_bytes + content.growth_bytes(retain, read(fragment))
                content.replace_suffix(retain, read(fragment))
                assert content.cost_bytes == expected_bytes
                model.cut(retain)
                model.extend(fragment)
                assert content.text() == text[:retain] + added
        check(name, content, model)


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
@pytest.mark.requirement("terminal:types:split-anywhere")
def test_a_fragment_may_come_in_two(name: str, data: DataObject) -> None:
    value, fragment = data.draw(DATA[name]), data.draw(DATA[name])
    whole, halves = new_content(name, value), new_content(name, value)
    if whole.refuse_extend(read(fragment)):
        return
    whole.extend(read(fragment))

    cut = data.draw(st.integers(0, len(MODELS[name](fragment).text())))
    first, second = halved(name, fragment, cut)
    for half in (first, second):
        assert halves.refuse_extend(read(half)) is None
        halves.extend(read(half))

    assert halves.data() == whole.data()


def halved(name: str, data: Any, cut: int) -> tuple[Any, Any]:
    """Return data as two fragments of which the first has ``cut`` scalars."""
    if name == PLAIN:
        return data[:cut], data[cut:]
    if name == STYLED:
        return halved_spans(data, cut)
    for index, cut_line in enumerate(data):
        length = sum(len(span["text"]) for span in cut_line["spans"])
        if cut <= length:
            before, after = halved_spans(cut_line["spans"], cut)
            first = [*data[:index], {**cut_line, "spans": before}]
            return first, [{"spans": after}, *data[index + 1 :]]
        cut -= length + 1
    return [], []


def halved_spans(span_list: list[Any], cut: int) -> tuple[list[Any], list[Any]]:
    first: list[Any] = []
    second: list[Any] = []
    for span in span_list:
        first.append({**span, "text": span["text"][: max(cut, 0)]})
        second.append({**span, "text": span["text"][max(cut, 0) :]})
        cut -= len(span["text"])
    return first, second


# text/lines: section by section --------------------------------------------------------------
NONE: Final = {"wrap": "none"}
PREFIX: Final = {"rest_prefix": [{"text": "  "}]}


def line(text: str, layout: Any = None) -> dict[str, Any]:
    spans_of = [{"text": text}] if text else []
    return {"spans": spans_of} if layout is None else {"spans": spans_of, "layout": layout}


# data, retain (None: extend), fragment -> data, or None if it is refused
LINE_ROWS: Final[list[tuple[list[Any], int | None, list[Any], list[Any] | None]]] = [
    ([], None, [line("a", NONE)], [line("a", NONE)]),
    ([], None, [line("")], [line("")]),
    ([line("")], None, [line("")], [line("")]),
    ([line("a")], None, [line("b")], [line("ab")]),
    ([line("a")], None, [line("b"), line("c", NONE)], [line("ab"), line("c", NONE)]),
    ([line("a", NONE)], None, [line("b")], [line("ab", NONE)]),
    ([line("a", NONE)], None, [line("b", NONE)], [line("ab", NONE)]),
    ([line("a", NONE)], None, [line("b", {})], None),
    ([line("a", NONE)], None, [line("b", PREFIX)], None),
    ([line("a", NONE)], None, [line("", {})], None),
    ([line("a")], None, [line("b", {})], [line("ab")]),
    ([line("a")], None, [line("b", {"wrap": "word", "align": "left"})], [line("ab")]),
    ([line("a"), line("", NONE)], None, [line("b", PREFIX)], [line("a"), line("b", PREFIX)]),
    ([line("a"), line("", NONE)], None, [line("b", {})], [line("a"), line("b")]),
    ([line("a"), line("", NONE)], None, [line("b")], [line("a"), line("b", NONE)]),
    ([line("a", NONE), line("b")], 0, [], [line("", NONE)]),
    ([line("a", NONE), line("b")], 0, [line("x")], [line("x", NONE)]),
    ([line("a", NONE), line("b")], 0, [line("x", PREFIX)], [line("x", PREFIX)]),
    ([line("a"), line("b", NONE)], 1, [], [line("a")]),
    ([line("a"), line("b", NONE)], 1, [line("x", NONE)], None),
    ([line("a"), line("b", NONE)], 2, [], [line("a"), line("", NONE)]),
    ([line("a"), line("b", NONE)], 2, [line("", PREFIX)], [line("a"), line("", PREFIX)]),
    ([line("a"), line("", PREFIX)], 1, [line(""), line("c")], [line("a"), line("c")]),
    ([line("a"), line("", NONE), line("c")], 2, [line("x")], [line("a"), line("x", NONE)]),
]


@pytest.mark.parametrize(("before", "retain", "fragment", "after"), LINE_ROWS)
@pytest.mark.requirement("terminal:lines:continues", "terminal:lines:layout-kept")
@pytest.mark.requirement("terminal:lines:empty-takes-layout", "terminal:lines:zero-lines")
@pytest.mark.requirement("terminal:lines:cut-keeps-layout")
def test_the_first_line_continues_and_the_others_begin(
    before: list[Any], retain: int | None, fragment: list[Any], after: list[Any] | None
) -> None:
    content = new_content(LINES, before)
    if retain is None:
        refusal = content.refuse_extend(read(fragment))
    else:
        refusal = content.refuse_replace_suffix(retain, read(fragment))
    assert refusal == ("invalid_content" if after is None else None)
    if after is None:
        assert as_json(content.data()) == before
        return
    if retain is None:
        content.extend(read(fragment))
    else:
        content.replace_suffix(retain, read(fragment))
    assert as_json(content.data()) == after


@pytest.mark.requirement("terminal:lines:zero-lines")
def test_zero_lines_and_an_empty_line_have_the_empty_text() -> None:
    none, one = new_content(LINES, []), new_content(LINES, [line("")])
    assert (none.text(), one.text()) == ("", "")
    assert (none.data(), len(one.data())) == ((), 1)


BOUNDARIES: Final[list[tuple[str, Any, Any, Any]]] = [
    (PLAIN, "a\r\n", "", "x"),
    (STYLED, [{"text": "a\r"}, {"text": "\n"}], [], [{"text": "x"}]),
    (LINES, [line("a"), line(""), line("")], [], [line("x")]),
]


@pytest.mark.parametrize(("name", "value", "empty", "added"), BOUNDARIES)
@pytest.mark.requirement("terminal:types:boundary", "terminal:types:scalars")
def test_at_least_one_scalar_is_replaced(name: str, value: Any, empty: Any, added: Any) -> None:
    content = new_content(name, value)
    for replacement in (empty, added):
        refusals = [content.refuse_replace_suffix(retain, read(replacement)) for retain in range(5)]
        assert refusals == [None] * 3 + ["invalid_content_boundary"] * 2
    nothing = new_content(name, empty)
    assert nothing.refuse_replace_suffix(0, read(added)) == "invalid_content_boundary"


WRONG_SHAPES: Final[dict[str, list[Any]]] = {
    PLAIN: [[{"text": "a"}], [line("a")], []],
    STYLED: ["a", "", [line("a")]],
    LINES: ["a", "", [{"text": "a"}]],
}


@pytest.mark.parametrize(
    ("name", "fragment"),
    [(name, fragment) for name, fragments in WRONG_SHAPES.items() for fragment in fragments],
)
@pytest.mark.requirement("terminal:types:shape")
def test_a_fragment_of_another_shape_is_refused_before_its_place(name: str, fragment: Any) -> None:
    content = new_content(name, "" if name == PLAIN else [])
    assert content.refuse_extend(read(fragment)) == "invalid_content"
    assert content.refuse_replace_suffix(9, read(fragment)) == "invalid_content"
    assert CONTENT_TYPES[name].refuse_data(read(fragment)) == "invalid_content"


@given(spans())
@example([{"text": ""}, {"text": "", "style": {"foreground": "red"}}])
@pytest.mark.requirement("terminal:styled:normal-form")
def test_spans_come_back_without_empty_ones_and_with_equal_neighbours_joined(value: Any) -> None:
    data: Any = new_content(STYLED, value).data()
    assert all(span.text for span in data)
    assert all(one.style != other.style for one, other in pairwise(data))
