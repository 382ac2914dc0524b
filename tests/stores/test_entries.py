"""Stamping and framing, and cutting joined frames at any place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import BlockwireError
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.ports import Draft, Entry
from blockwire.sse import SseDecoder, SseEvent, encode_sse
from blockwire.stores.entries import (
    first_frames,
    frame_count,
    frames_after,
    frames_up_to,
    last_number,
    split_frames,
    stamp,
    stamp_all,
)

TS = 1_740_000_000_000
SAME = b'{"type":"x","a":1}'


def stamped(
    owner: bytes, public: bytes | None, *, prev_seq: int = 4, prev_public: int = 4
) -> Entry:
    return stamp(Draft("x", owner, public), "conv_1", 5, prev_seq, prev_public, TS)


def value_of(frame: bytes | None) -> Json:
    assert frame is not None
    (event,) = SseDecoder().receive_data(frame)
    assert isinstance(event, SseEvent)
    return decode_json(event.data.encode())


def test_a_frame_holds_the_number_the_type_and_the_stamp_last() -> None:
    entry = stamped(SAME, SAME)

    data = b'{"type":"x","a":1,"conversation_id":"conv_1","seq":5,"prev_seq":4,"ts":1740000000000}'
    assert entry.owner_frame == b"id: 5\nevent: x\ndata: " + data + b"\n\n"
    assert entry.owner_frame == encode_sse(data, event="x", id="5")


def test_both_views_share_one_frame_where_nothing_differs() -> None:
    entry = stamped(SAME, SAME)

    assert entry.public_frame is entry.owner_frame


@pytest.mark.parametrize(
    ("public", "prev_public", "expected"),
    [
        (None, 4, None),
        (SAME, 2, {"type": "x", "a": 1, "prev_seq": 2}),
        (b'{"type":"x"}', 4, {"type": "x", "prev_seq": 4}),
        (b'{"type":"x"}', 2, {"type": "x", "prev_seq": 2}),
        (b'{"seq":9,"type":"x","ts":1}', 2, {"type": "x", "prev_seq": 2}),
    ],
)
@pytest.mark.requirement("content:stamp:prev-seq")
def test_the_public_frame_has_its_own_prev_seq(
    public: bytes | None, prev_public: int, expected: dict[str, Json] | None
) -> None:
    entry = stamped(SAME, public, prev_public=prev_public)

    if expected is None:
        assert entry.public_frame is None
    else:
        envelope = {"conversation_id": "conv_1", "seq": 5, "ts": TS}
        assert value_of(entry.public_frame) == expected | envelope


@pytest.mark.parametrize(
    ("code", "draft"),
    [
        ("invalid_draft", Draft("x", b"{}", None)),
        ("invalid_draft", Draft("x", b"[1]", None)),
        ("invalid_draft", Draft("x", b'{"a":1', None)),
        ("invalid_draft", Draft("x", b' {"a":1}', None)),
        ("invalid_draft", Draft("x", b'{"seq":1}', None)),
        ("invalid_draft", Draft("x", SAME, b"{}")),
        ("invalid_sse_field", Draft("a\rb", SAME, SAME)),
        ("invalid_sse_field", Draft("\ud800", SAME, SAME)),
        ("duplicate_member", Draft("x", b'{"seq":1,"seq":2}', None)),
        ("invalid_json", Draft("x", b'{"ts":}', None)),
    ],
)
def test_a_draft_that_cannot_be_stamped_is_refused(code: str, draft: Draft) -> None:
    with pytest.raises(BlockwireError) as refused:
        stamp(draft, "conv_1", 1, 0, 0, TS)

    assert refused.value.code == code


NAMES = st.sampled_from(["type", "seq", "prev_seq", "ts", "conversation_id", "text", "a\n", '"'])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(
    members=st.dictionaries(NAMES, VALUES, max_size=5), blanks=st.sampled_from([b"", b"\n", b"\r"])
)
@pytest.mark.requirement("content:stamp:last")
def test_whatever_a_payload_says_only_the_stamp_counts(
    members: dict[str, Json], blanks: bytes
) -> None:
    members = {"type": "x", **members}
    kept = {
        k: v for k, v in members.items() if k not in {"seq", "prev_seq", "ts", "conversation_id"}
    }
    data = encode_json(members)

    entry = stamped(data[:-1] + blanks + b"}", data)

    expected = kept | {"conversation_id": "conv_1", "seq": 5, "prev_seq": 4, "ts": TS}
    assert value_of(entry.owner_frame) == expected
    assert value_of(entry.public_frame) == expected


@given(
    shown=st.lists(st.sampled_from(["both", "owner", "differs"]), min_size=1, max_size=12),
    head_seq=st.integers(0, 2**50),
    text=st.text(),
)
def test_joined_frames_can_be_cut_at_every_number(
    shown: list[str], head_seq: int, text: str
) -> None:
    owner = encode_json({"type": "x", "text": text})
    public = {"both": owner, "owner": None, "differs": b'{"type":"x"}'}
    entries = stamp_all(
        [Draft("x", owner, public[how]) for how in shown],
        "conv_1",
        head_seq=head_seq,
        public_head_seq=head_seq,
        ts=TS,
    )

    for frames in (
        [(entry.seq, entry.owner_frame) for entry in entries],
        [(entry.seq, entry.public_frame) for entry in entries if entry.public_frame is not None],
    ):
        joined = b"".join(frame for _, frame in frames)
        assert frame_count(joined) == len(frames)
        assert list(split_frames(joined)) == [frame for _, frame in frames]
        for seq in range(head_seq - 1, head_seq + len(entries) + 2):
            assert frames_after(joined, seq) == b"".join(f for s, f in frames if s > seq)
            assert frames_up_to(joined, seq) == b"".join(f for s, f in frames if s <= seq)
        if frames:
            assert last_number(joined) == frames[-1][0]


@given(lengths=st.lists(st.integers(0, 40), min_size=1, max_size=8), bytes_max=st.integers(-1, 700))
def test_first_frames_are_whole_and_fit(lengths: list[int], bytes_max: int) -> None:
    drafts = [Draft("x", encode_json({"t": "y" * length}), None) for length in lengths]
    entries = stamp_all(drafts, "c", head_seq=0, public_head_seq=0, ts=0)
    joined = b"".join(entry.owner_frame for entry in entries)

    fitting = first_frames(joined, bytes_max, at_least_one=False)
    taken = first_frames(joined, bytes_max, at_least_one=True)

    count = frame_count(fitting)
    assert fitting == b"".join(entry.owner_frame for entry in entries[:count])
    assert len(fitting) <= max(bytes_max, 0)
    if count < len(entries):
        assert len(fitting) + len(entries[count].owner_frame) > bytes_max
    assert taken == (fitting or entries[0].owner_frame)


def test_nothing_can_be_cut_out_of_nothing() -> None:
    assert frames_after(b"", 3) == frames_up_to(b"", 3) == b""
    assert first_frames(b"", 100, at_least_one=True) == b""
    assert list(split_frames(b"")) == []
    assert list(split_frames(b"id: 1\n\nid: 2")) == [b"id: 1\n\n", b"id: 2"]
