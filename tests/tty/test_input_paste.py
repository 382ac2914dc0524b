"""What is pasted acts on nothing, does not end its own brackets, and is whole."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.tty import PasteEncoder, encode_paste
from blockwire.tty.paste import PASTE_BEGIN, PASTE_END
from tests.tty.inputs import single

PASTES: Final[list[tuple[bytes, bytes, bytes]]] = [
    # pasted,                     within brackets,        without
    (b"ls\n",                     b"ls\n",                b"ls\r"),
    (b"a\r\nb\rc\n\n",            b"a\r\nb\rc\n\n",       b"a\rb\rc\r\r"),
    (b"a\x1b[201~rm",             b"a[201~rm",            b"a[201~rm"),
    (b"a\x9b201~rm",              b"a\xef\xbf\xbd201~rm", b"a\xef\xbf\xbd201~rm"),
    (b"a\xc2\x9b201~rm",          b"a201~rm",             b"a201~rm"),
    (b"\xc2\x1b\x9b201~",         b"\xef\xbf\xbd\xef\xbf\xbd201~", b"\xef\xbf\xbd\xef\xbf\xbd201~"),
    (b"\xe2\x82\x1b\x9b",         b"\xef\xbf\xbd\xef\xbf\xbd", b"\xef\xbf\xbd\xef\xbf\xbd"),
    (b"\x00\x03\x04\x1a\x7f\tx\f", b"\tx\f",              b"\tx\f"),
    ("é漢😀\u00a0".encode(),       "é漢😀\u00a0".encode(),  "é漢😀\u00a0".encode()),
    (b"\xe6\xbc",                 b"\xef\xbf\xbd",        b"\xef\xbf\xbd"),
    (b"",                         b"",                    b""),
]  # fmt: skip


@pytest.mark.requirement("host:input:paste-escape")
@pytest.mark.requirement("host:input:paste-returns")
@pytest.mark.parametrize(("data", "within", "without"), PASTES)
def test_controls_are_taken_out_of_a_paste(data: bytes, within: bytes, without: bytes) -> None:
    assert encode_paste(data, bracketed=True) == PASTE_BEGIN + within + PASTE_END
    assert encode_paste(data, bracketed=False) == without
    for bracketed in (True, False):
        assert in_pieces(single(data), bracketed=bracketed) == encode_paste(
            data, bracketed=bracketed
        )


def in_pieces(pieces: list[bytes], *, bracketed: bool) -> bytes:
    encoder = PasteEncoder()
    sent = [encoder.encode(piece, is_last=False, bracketed=bracketed) for piece in pieces]
    return b"".join(sent) + encoder.encode(b"", is_last=True, bracketed=bracketed)


HOSTILE: Final = st.lists(
    st.sampled_from(
        [b"\x1b", b"[201~", b"\x9b", b"\xc2", b"\xe2", b"\x82", b"\r", b"\n", b"x", PASTE_END]
    )
    | st.binary(max_size=4)
).map(b"".join)
ACTING: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")


@pytest.mark.requirement("host:input:paste-escape")
@given(data=HOSTILE, bracketed=st.booleans(), size=st.integers(1, 5))
@example(data=b"\xc2\x1b\x9b201~", bracketed=True, size=1)
def test_nothing_that_acts_is_left_however_it_is_cut(
    data: bytes, bracketed: bool, size: int
) -> None:
    pieces = [data[i : i + size] for i in range(0, len(data), size)]

    sent = in_pieces(pieces, bracketed=bracketed)

    assert sent == encode_paste(data, bracketed=bracketed)
    if bracketed:
        assert sent.startswith(PASTE_BEGIN)
        assert sent.endswith(PASTE_END)
        sent = sent[len(PASTE_BEGIN) : -len(PASTE_END)]
    assert not ACTING.search(sent.decode("utf-8", "strict"))


@pytest.mark.requirement("host:input:paste")
def test_a_megabyte_reaches_the_program_without_loss() -> None:
    text = ("a line of text é漢😀 and more\n" * 40_000)[:1_000_000]
    data = text.encode()
    pieces = [data[i : i + 4093] for i in range(0, len(data), 4093)]

    assert in_pieces(pieces, bracketed=True) == PASTE_BEGIN + data + PASTE_END
    assert in_pieces(pieces, bracketed=False) == text.replace("\n", "\r").encode()


@pytest.mark.requirement("host:input:paste-brackets")
@pytest.mark.parametrize("bracketed", [True, False])
def test_the_brackets_are_as_the_program_wanted_when_the_paste_began(bracketed: bool) -> None:
    encoder = PasteEncoder()

    sent = encoder.encode(b"a\r", is_last=False, bracketed=bracketed)
    sent += encoder.encode(b"\nb", is_last=True, bracketed=not bracketed)

    assert sent == encode_paste(b"a\r\nb", bracketed=bracketed)


def test_one_paste_leaves_nothing_to_the_next() -> None:
    encoder = PasteEncoder()
    for data, bracketed, sent in [(b"a\r", False, b"a\r"), (b"\n\xe6", False, b"\r\xef\xbf\xbd")]:
        assert encoder.encode(data, is_last=True, bracketed=bracketed) == sent
    assert encoder.encode(b"b", is_last=True, bracketed=True) == PASTE_BEGIN + b"b" + PASTE_END
