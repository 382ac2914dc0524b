"""What a program on a plain xterm is sent, whatever the outer terminal speaks."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.tty import Key, encode_key
from blockwire.tty.keys import KEY_NAMES
from tests.tty.inputs import read
from tests.tty.test_input_spellings import SPELLINGS


def encode(
    raw: bytes, *, application_cursor: bool = False, application_keypad: bool = False
) -> bytes:
    [key] = read(raw)
    assert isinstance(key, Key)
    return encode_key(
        key, application_cursor=application_cursor, application_keypad=application_keypad
    )


SENT: Final[list[tuple[bytes, bytes]]] = [
    # from the outer terminal,  to the program
    (b"a",                      b"a"),
    (b"\xe6\xbc\xa2",           b"\xe6\xbc\xa2"),
    (b"\x1b[97;2u",             b"A"),
    (b"\x1b[97;3u",             b"\x1ba"),
    (b"\x1b[97;5u",             b"\x01"),
    (b"\x1b[97;6u",             b"\x01"),
    (b"\x1b[97;7u",             b"\x1b\x01"),
    (b"\x1b[97;9u",             b"a"),
    (b"\x1b[49;5u",             b"1"),
    (b"\x1b[50;5u",             b"\x00"),
    (b"\x1b[32;5u",             b"\x00"),
    (b"\x1b[32;2u",             b" "),
    (b"\x1b[32;7u",             b"\x1b\x00"),
    (b"\x1b[47;5u",             b"\x1f"),
    (b"\x1b[105;6u",            b"\t"),
    (b"\n",                     b"\n"),
    (b"\x08",                   b"\x08"),
    (b"\x1b[13;2u",             b"\r"),
    (b"\x1b[13;3u",             b"\x1b\r"),
    (b"\x1b[27;5;13~",          b"\r"),
    (b"\x1b[9;2u",              b"\x1b[Z"),
    (b"\x1b[9;5u",              b"\t"),
    (b"\x1b\t",                 b"\x1b[Z"),
    (b"\x1b[9;4u",              b"\x1b\x1b[Z"),
    (b"\x1b[127;5u",            b"\x08"),
    (b"\x1b[127;3u",            b"\x1b\x7f"),
    (b"\x1b[27u",               b"\x1b"),
    (b"\x1b[27;3u",             b"\x1b\x1b"),
    (b"\x1b[1~",                b"\x1b[H"),
    (b"\x1b[7~",                b"\x1b[H"),
    (b"\x1b[3$",                b"\x1b[3;2~"),
    (b"\x1b[a",                 b"\x1b[1;2A"),
    (b"\x1b\x1b[A",             b"\x1b[1;3A"),
    (b"\x1b[[A",                b"\x1bOP"),
    (b"\x1b[11~",               b"\x1bOP"),
    (b"\x1b[1;5P",              b"\x1b[1;5P"),
    (b"\x1b[57376u",            b"\x1b[25~"),
    (b"\x1b[57379u",            b"\x1b[29~"),
    (b"\x1b[1;9A",              b"\x1b[A"),
    (b"\x1b[0;;20320:22909u",   "你好".encode()),
    (b"\x1b[57440u",            b""),
    (b"\x1b[57398u",            b""),
    (b"\xe9x",                  b"\xe9"),
    (b"\xc2\x9b",               b"\xc2\x9b"),
    (b"\x1bOp",                 b"0"),
    (b"\x1bOM",                 b"\r"),
]  # fmt: skip


@pytest.mark.requirement("host:input:plain")
@pytest.mark.parametrize(("raw", "sent"), SENT)
def test_a_key_is_sent_as_a_plain_xterm_sends_it(raw: bytes, sent: bytes) -> None:
    key = read(raw)[0]

    assert isinstance(key, Key)
    assert encode_key(key, application_cursor=False, application_keypad=False) == sent


@pytest.mark.requirement("host:input:plain")
def test_every_spelling_of_a_key_is_sent_as_the_same_bytes() -> None:
    for spellings in SPELLINGS.values():
        for cursor in (False, True):
            assert len({encode(raw, application_cursor=cursor) for raw in spellings}) == 1


CURSOR_KEYS: Final = ("up", "down", "right", "left", "home", "end", "begin")


@pytest.mark.parametrize("name", CURSOR_KEYS)
def test_cursor_keys_follow_the_program(name: str) -> None:
    plain, modified = Key(name, "", b"?"), Key(f"ctrl-{name}", "", b"?")

    def sent(key: Key, *, application: bool) -> bytes:
        return encode_key(key, application_cursor=application, application_keypad=False)

    assert sent(plain, application=False)[:2] == b"\x1b["
    assert sent(plain, application=True)[:2] == b"\x1bO"
    assert sent(plain, application=True)[2:] == sent(plain, application=False)[2:]
    assert sent(modified, application=True) == sent(modified, application=False)


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        (b"\x1bOp", b"\x1bOp"),
        (b"\x1b[57399u", b"\x1bOp"),
        (b"\x1b[57414u", b"\x1bOM"),
        (b"0", b"0"),
    ],
)
def test_a_keypad_follows_the_program_where_it_is_known(raw: bytes, sent: bytes) -> None:
    assert encode(raw, application_keypad=True) == sent
    assert encode(raw) in (b"0", b"\r")


def test_a_name_that_nobody_knows_goes_out_as_it_came() -> None:
    key = Key("kneel", "", b"\x1b[999z")

    assert encode_key(key, application_cursor=False, application_keypad=False) == b"\x1b[999z"


def test_every_key_that_has_a_name_is_sent_as_something_or_as_nothing() -> None:
    for name in KEY_NAMES:
        sent = encode_key(Key(name, "", b"raw"), application_cursor=False, application_keypad=False)
        assert sent != b"raw", name
