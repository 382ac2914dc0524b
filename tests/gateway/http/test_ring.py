"""The ring: what it keeps, what it lets go of, and that its readers miss nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import View
from blockwire.gateway.streams.ring import PIECE_BYTES_MAX, Piece, Ring
from blockwire.ports import Entry


def entry(seq: int, *, size: int = 10, is_private: bool = False, type: str = "x") -> Entry:  # noqa: A002
    frame = b"%d:" % seq + b"." * size
    return Entry(seq, type, frame, None if is_private else frame)


def piece_after(ring: Ring, cursor: int, view: View = "owner") -> Piece:
    position = ring.position_after(cursor)
    assert position is not None
    piece = ring.piece(position, view)
    assert piece is not None
    return piece


def test_readers_at_one_position_and_view_share_one_piece() -> None:
    ring = Ring()
    ring.extend([entry(1), entry(2)])

    first, second, public = (
        piece_after(ring, 0),
        piece_after(ring, 0),
        piece_after(ring, 0, "public"),
    )

    assert first is second
    assert first is not public
    assert first.message["body"] == entry(1).owner_frame + entry(2).owner_frame
    assert first.chunk == b"%x\r\n%b\r\n" % (first.length_bytes, first.message["body"])


def test_a_withheld_entry_moves_the_cursor_and_writes_nothing() -> None:
    ring = Ring()
    ring.extend([entry(1, is_private=True)])

    piece = piece_after(ring, 0, "public")

    assert (piece.length_bytes, piece.seq, piece.end) == (0, 1, ring.end)


def test_an_entry_that_was_here_before_is_ignored() -> None:
    ring = Ring()

    assert ring.extend([entry(1), entry(2)])
    assert not ring.extend([entry(2)])
    assert piece_after(ring, 0).seq == 2
    assert ring.end == 2


def test_a_gap_sends_readers_to_the_log_for_what_is_missing() -> None:
    ring = Ring()
    ring.extend([entry(1), entry(2)])

    ring.extend([entry(5)])

    assert ring.position_after(2) is None
    assert piece_after(ring, 4).seq == 5


def test_a_ring_keeps_no_more_than_its_bytes_but_always_the_newest_entry() -> None:
    ring = Ring(bytes_max=100)

    for seq in range(1, 50):
        ring.extend([entry(seq, size=30)])
        assert ring.retained_bytes <= 100
    ring.extend([entry(50, size=1000)])

    assert ring.position_after(48) is None
    assert piece_after(ring, 49).seq == 50
    assert ring.piece(0, "owner") is None


def test_a_piece_ends_before_it_grows_too_large_unless_one_frame_is() -> None:
    ring = Ring(bytes_max=10 * PIECE_BYTES_MAX)
    half = PIECE_BYTES_MAX // 2 + 1
    ring.extend([entry(1, size=half), entry(2, size=half), entry(3, size=2 * PIECE_BYTES_MAX)])

    sizes = [piece_after(ring, cursor).length_bytes for cursor in (0, 1, 2)]

    assert sizes[0] < PIECE_BYTES_MAX
    assert sizes[1] < PIECE_BYTES_MAX
    assert sizes[2] > PIECE_BYTES_MAX


def test_a_cleared_ring_serves_whoever_is_at_its_end_and_nobody_before() -> None:
    ring = Ring()
    ring.extend([entry(1), entry(2)])

    ring.clear()

    assert ring.retained_bytes == 0
    assert ring.position_after(1) is None
    assert ring.position_after(2) == ring.end
    ring.extend([entry(3)])
    assert piece_after(ring, 2).seq == 3


def test_a_piece_tells_whether_a_turn_ends_in_it() -> None:
    ring = Ring()
    ring.extend([entry(1), entry(2, type="turn.failed")])

    assert piece_after(ring, 0).ends_turn
    assert not piece_after(ring_of(entry(1)), 0).ends_turn


def ring_of(*entries: Entry) -> Ring:
    ring = Ring()
    ring.extend(entries)
    return ring


@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    private=st.sets(st.integers(1, 40)),
    bytes_max=st.integers(1, 400),
    cursor=st.integers(0, 45),
    clear_at=st.sets(st.integers(0, 40)),
)
def test_ring_and_log_together_give_each_entry_once(
    sizes: list[int], private: set[int], bytes_max: int, cursor: int, clear_at: set[int]
) -> None:
    """From any cursor: either the ring says that the log has to be read, or it has all the rest."""
    entries = [entry(i, size=s, is_private=i in private) for i, s in enumerate(sizes, 1)]
    ring = Ring(bytes_max)
    for one in entries:
        ring.extend([one])
        if one.seq in clear_at:
            ring.clear()

    position = ring.position_after(cursor)

    if position is None:
        assert cursor < len(entries)
        return
    got = b""
    while position != ring.end:
        piece = ring.piece(position, "public")
        assert piece is not None
        got += piece.message["body"]
        assert piece.end > position
        position = piece.end
    assert got == b"".join(e.public_frame or b"" for e in entries[cursor:])
