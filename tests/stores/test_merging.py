"""Frames merged as they are spelled, by the rule of ``content``; cut for a cursor inside."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import BlockDelta, View, cut_merged, decode_event, merge_entries
from blockwire.content.merging import Merged
from blockwire.errors import StoreError
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.ports import Draft
from blockwire.stores import merging
from blockwire.stores.entries import stamp_all
from blockwire.stores.merging import completed_blocks, merge_spans
from blockwire.stores.spans import (
    Run,
    Span,
    cut_frame,
    frames_between,
    one_length,
    read_delta,
    sum_lengths,
)

TEXTS = st.text(max_size=5) | st.sampled_from(
    ['"', "\\", '","seq":1', '","conversation_id":"c","seq":2', "\n\n", "\x00", "\u2028", "x" * 300]
)
BLOCKS = st.sampled_from([("t1", "b1", "markdown"), ("t1", "b2", "text"), ("t2", "b1", "markdown")])
# A delta, with members that nobody knows or without, or something else; who gets it.
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["delta"] * 8 + ["odd", "other"]),
        BLOCKS,
        TEXTS,
        st.sampled_from(["both", "both", "both", "owner"]),
    ),
    max_size=25,
)


def spans_of(events: Sequence[tuple[str, tuple[str, str, str], str, str]]) -> list[Span]:
    drafts: list[Draft] = []
    for kind, (turn_id, block_id, field), text, who in events:
        members: dict[str, Json] = {"type": "test.said", "text": text}
        if kind != "other":
            members = {"type": "content.block.delta", "turn_id": turn_id, "block_id": block_id}
            members |= {"field": field, "text": text}
        if kind == "odd":
            members["mood"] = [1]
        data = encode_json(members)
        drafts.append(Draft(str(members["type"]), data, data if who == "both" else None))
    entries = stamp_all(
        drafts, "conv_\u00e9,\"'", head_seq=7, public_head_seq=3, ts=1_740_000_000_000
    )
    return [Span(e.seq, e.seq, e.owner_frame, e.public_frame) for e in entries]


def plain(*texts: str) -> list[Span]:
    return spans_of([("delta", ("t1", "b1", "markdown"), text, "both") for text in texts])


class Everything:
    """All blocks there are."""

    def __contains__(self, key: object) -> bool:
        return True


def value_of(frame: bytes) -> dict[str, Any]:
    value = decode_json(frame.partition(b"\ndata: ")[2])
    assert isinstance(value, dict)
    return value


def frame_of(span: Span, view: View) -> bytes | None:
    return span.owner if view == "owner" else span.public


@given(EVENTS)
def test_frames_are_merged_by_the_rule_of_content(events: Any) -> None:
    spans = spans_of(events)

    merged = merge_spans(spans, Everything()).spans

    # The rule knows no views: a run ends where what the public gets of it changes.
    expected: list[dict[str, Any]] = []
    group: list[Span] = []
    for span in [*spans, None]:
        if span is not None and (not group or (group[-1].public is None) == (span.public is None)):
            group.append(span)
            continue
        entries = [Merged(decode_event(value_of(it.owner))) for it in group]
        expected += [msgspec.to_builtins(e.event) for e in merge_entries(entries)]
        group = [] if span is None else [span]
    found = [msgspec.to_builtins(decode_event(value_of(span.owner))) for span in merged]
    assert found == expected
    for span in merged:
        assert span.owner.startswith(b"id: %d\n" % span.seq)
        assert value_of(span.owner)["prev_seq"] == span.first_seq - 1
        if span.is_merged:
            assert span.lengths is not None
            text = value_of(span.owner)["text"]
            assert sum_lengths(span.lengths) == (len(text), span.seq - span.first_seq + 1)


@given(EVENTS)
def test_a_chain_of_each_view_stays_whole(events: Any) -> None:
    spans = spans_of(events)

    merged = merge_spans(spans, Everything()).spans

    views: list[tuple[int, View]] = [(7, "owner"), (3, "public")]
    for before, view in views:
        texts = [value_of(f).get("text") for it in spans if (f := frame_of(it, view)) is not None]
        found = [value_of(f) for it in merged if (f := frame_of(it, view)) is not None]
        last = before
        for value in found:
            assert value["prev_seq"] == last
            last = value["seq"]
        assert "".join(map(str, texts)) == "".join(str(value.get("text")) for value in found)


@given(EVENTS, st.integers(0, 25))
def test_merging_in_steps_is_merging_at_once(events: Any, cut: int) -> None:
    spans = spans_of(events)
    at_once = merge_spans(spans, Everything()).spans

    first = merge_spans(spans[:cut], Everything()).spans

    assert merge_spans([*first, *spans[cut:]], Everything()).spans == at_once
    assert merge_spans(at_once, Everything()).spans == at_once


@given(EVENTS, st.integers(7, 40), st.integers(0, 30), st.sampled_from(["owner", "public"]))
def test_what_is_between_two_numbers_is_the_same_text(
    events: Any, after: int, length: int, view: View
) -> None:
    spans = spans_of(events)
    up_to = after + length
    merged = merge_spans(spans, Everything()).spans
    runs = [Run(it.first_seq, it.seq, it.lengths) for it in merged if it.is_merged]

    def find_run(cursor: int) -> Run | None:
        return next((run for run in runs if run.seq > cursor), None)

    def between(parts: list[Span]) -> bytes:
        frames = b"".join([frame_of(it, view) or b"" for it in parts])
        return frames_between(frames, after, up_to, find_run) if frames else b""

    found = between(merged)

    expected = [
        value_of(frame).get("text")
        for it in spans
        if after < it.seq <= up_to and (frame := frame_of(it, view)) is not None
    ]
    values = [value_of(frame + b"\n\n") for frame in found.split(b"\n\n")[:-1]]
    assert "".join(map(str, expected)) == "".join(str(value.get("text")) for value in values)
    assert all(after < value["seq"] <= up_to for value in values)
    assert all(value["prev_seq"] <= after for value in values[:1])


@given(st.lists(st.integers(0, 70_000), max_size=40), st.integers(0, 45))
def test_lengths_come_back(lengths: list[int], count: int) -> None:
    kept = b"".join(map(one_length, lengths))

    assert sum_lengths(kept) == (sum(lengths), len(lengths))
    part = lengths[:count]
    assert sum_lengths(kept, count) == (sum(part), len(part))


def test_only_completed_blocks_are_merged_and_the_first_open_one_is_told() -> None:
    events = [("delta", ("t1", block, "markdown"), "x", "both") for block in "aabbaabb"]

    merged = merge_spans(spans_of(events), {("t1", "b")})

    assert [it.seq for it in merged.spans] == [8, 9, 11, 12, 13, 15]
    assert merged.open_seq == 8


def test_a_run_that_is_too_long_becomes_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MERGED_CHARS_MAX", 10)

    merged = merge_spans(
        plain("1234", "1234", "1234", "x" * 12, "1234", "1234"), Everything()
    ).spans

    assert [value_of(it.owner)["text"] for it in merged] == [
        "12341234", "1234", "x" * 12, "12341234",
    ]  # fmt: skip


def test_what_lost_its_lengths_is_merged_with_nothing() -> None:
    first, *rest = merge_spans(plain("a", "b"), Everything()).spans
    gone = first._replace(lengths=None)
    assert rest == []
    later = [it._replace(first_seq=it.seq) for it in plain("a", "b", "c", "d")[2:]]

    for spans in ([gone, *later], [*merge_spans(later[:1], Everything()).spans, gone]):
        assert merge_spans(spans, Everything()).spans[spans.index(gone)] == gone
    with pytest.raises(StoreError) as refused:
        cut_frame(gone.owner, Run(gone.first_seq, gone.seq, None), after=gone.first_seq, up_to=99)
    assert refused.value.code == "cursor_inside_delta"


def test_lengths_that_do_not_fit_are_not_believed() -> None:
    (span,) = merge_spans(plain("a", "b"), Everything()).spans

    with pytest.raises(StoreError):
        cut_frame(span.owner, Run(span.first_seq, span.seq, b"\x05\x05"), after=8, up_to=99)
    with pytest.raises(StoreError):
        cut_frame(b"id: 9\nevent: x\ndata: {}\n\n", Run(8, 9, b"\x01\x01"), after=8, up_to=99)


def test_a_cut_is_what_content_says() -> None:
    (span,) = merge_spans(plain("ab", "c\u00e9", "\U0001f600"), Everything()).spans
    event = read_delta(span.owner)
    assert event is not None
    pairs = ((8, 2), (9, 2), (10, 1))

    for after in (8, 9):
        run = Run(span.first_seq, span.seq, span.lengths)
        cut = read_delta(cut_frame(span.owner, run, after=after, up_to=99))
        assert cut == cut_merged(event, pairs, after)


BROKEN = [
    b"",
    b"id: 8\nevent: content.block.delta\ndata: {\n\n",
    b'id: 8\nevent: content.block.delta\ndata: {"type":"content.block.delta"}\n\n',
    b"id: 8\nevent: content.block.delta\ndata: \xff\n\n",
    plain("y")[0].owner.replace(b'"y"', b'"\xff"'),
    plain("y")[0].owner.replace(b'"y"', b'"\\ud800"'),
]


@pytest.mark.parametrize("frame", BROKEN)
def test_damage_is_merged_with_nothing(frame: bytes) -> None:
    around = plain("a", "b", "c")
    spans = [around[0], around[1]._replace(owner=frame, public=frame), around[2]]

    assert merge_spans(spans, Everything()).spans == spans
    assert read_delta(frame) is None or frame.endswith(b"}\n\n")


def test_a_delta_that_does_not_follow_stays_alone() -> None:
    first, second, third = plain("a", "b", "c")
    for old, new in (
        (b'"prev_seq":8', b'"prev_seq":7'),
        (b'"seq":9', b'"seq":10'),
        (b',"ts":1740000000000}', b',"ts":17e11}'),
        (b'"text":"b"', b'"text":"b","more":"x"'),
        (b'"field":"markdown"', b'"field":"text"'),
    ):
        frame = second.owner.replace(old, new)
        assert frame != second.owner
        odd = second._replace(owner=frame, public=frame)
        merged = merge_spans([first, odd, third], Everything()).spans
        assert [it.seq for it in merged] == [8, 9, 10]


def test_a_delta_that_is_spelled_otherwise_is_merged_all_the_same() -> None:
    first, second, third = plain("a", "b", "c")
    for old, new in (
        (b'"text":"b"', b'"text" : "b"'),
        (b'"text":"b"', b'"text":"\\u0062"'),
        (b'"type":"content.block.delta",', b""),
    ):
        frame = second.owner.replace(old, new)
        if new == b"":
            frame = frame.replace(b',"ts":', b',"type":"content.block.delta","ts":')
        odd = second._replace(owner=frame, public=frame)
        (merged,) = merge_spans([first, odd, third], Everything()).spans
        assert value_of(merged.owner)["text"] == "abc"
        assert merged.lengths == b"\x01\x01\x01"


def test_completed_blocks_are_found_in_frames() -> None:
    def frame(number: int, data: bytes) -> bytes:
        return b"id: %d\nevent: content.block.completed\ndata: %b\n\n" % (number, data)

    good = encode_json(
        {
            "type": "content.block.completed",
            "turn_id": "t1",
            "block_id": "b\n\n1",
            "more": {"a": []},
        }
    )
    frames = frame(1, good) + plain("x")[0].owner + frame(3, b"{")
    frames += frame(4, b'{"turn_id":1}') + frame(5, b'{"turn_id":"t2",\ndata: "block_id":"b2"}')

    assert list(completed_blocks(frames)) == [("t1", "b\n\n1"), ("t2", "b2")]
    assert list(completed_blocks(b"")) == []


def test_a_public_frame_that_differs_in_more_than_its_number_is_left_alone() -> None:
    spans = plain("a", "b")
    public = spans[0].owner.replace(b'"text":"a"', b'"text":"z"')
    odd = spans[0]._replace(public=public)

    assert merge_spans([odd, spans[1]], Everything()).spans == [odd, spans[1]]
    assert merge_spans([spans[0]._replace(public=b"x"), spans[1]], Everything()).spans[0].seq == 8


def test_a_merged_delta_of_the_public_keeps_the_number_that_the_public_saw() -> None:
    events = [("delta", ("t1", "b1", "markdown"), text, "both") for text in "ab"]
    private = ("other", ("", "", ""), "", "owner")

    merged = merge_spans(spans_of([events[0], private, *events]), Everything()).spans

    owner, public = merged[-1].owner, merged[-1].public
    assert public is not None
    assert (value_of(owner)["prev_seq"], value_of(public)["prev_seq"]) == (9, 8)
    assert isinstance(read_delta(owner), BlockDelta)
