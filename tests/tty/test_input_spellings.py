"""One key has one name, however it is spelled: our table, and the terminals' own descriptions."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Final

import pytest

from blockwire.tty import Key, encode_key
from blockwire.tty.keys import KEY_NAMES, MODIFIERS, byte_key, key_name, make_key, split_name
from blockwire.tty.keyspellings import CODE_KEYS, CODE_STATES
from tests.tty.inputs import assert_reads, names, read

SPELLINGS: Final[dict[str, tuple[bytes, ...]]] = {
    "up": (b"\x1b[A", b"\x1bOA", b"\x1b[1;1A", b"\x1b[1;1:1A", b"\x1b[57352u", b"\x1b[57419u"),
    "shift-up": (b"\x1b[1;2A", b"\x1b[2A", b"\x1b[a", b"\x1b[1;2:2A", b"\x1bO2A", b"\x1bO1;2A"),
    "ctrl-up": (b"\x1b[1;5A", b"\x1bOa", b"\x1b[57352;5u"),
    "alt-up": (b"\x1b[1;3A", b"\x1b\x1b[A", b"\x1b\x1bOA"),
    "ctrl-alt-up": (b"\x1b[1;7A", b"\x1b\x1bOa", b"\x1b\x1b[1;5A"),
    "ctrl-alt-shift-up": (b"\x1b[1;8A",),
    "super-up": (b"\x1b[1;9A", b"\x1b[1;73A"),
    "home": (b"\x1b[H", b"\x1bOH", b"\x1b[1~", b"\x1b[7~", b"\x1b[57423u"),
    "end": (b"\x1b[F", b"\x1bOF", b"\x1b[4~", b"\x1b[8~"),
    "begin": (b"\x1b[E", b"\x1b[57427u"),
    "shift-page-up": (b"\x1b[5;2~", b"\x1b[5$"),
    "ctrl-delete": (b"\x1b[3;5~", b"\x1b[3^"),
    "ctrl-shift-delete": (b"\x1b[3;6~", b"\x1b[3@"),
    "alt-insert": (b"\x1b[2;3~", b"\x1b\x1b[2~"),
    "f1": (b"\x1bOP", b"\x1b[P", b"\x1b[11~", b"\x1b[[A", b"\x1b[57364u"),
    "f3": (b"\x1bOR", b"\x1b[R", b"\x1b[13~", b"\x1b[[C"),
    "shift-f3": (b"\x1b[1;2R", b"\x1b[13;2~"),
    "f5": (b"\x1b[15~", b"\x1b[[E"),
    "f13": (b"\x1b[25~", b"\x1b[57376u"),
    "menu": (b"\x1b[29~", b"\x1b[57363u"),
    "enter": (b"\r", b"\x1b[13u", b"\x1bOM", b"\x1b[57414u", b"\x1b[27;1;13~"),
    "shift-enter": (b"\x1b[13;2u", b"\x1b[27;2;13~"),
    "alt-enter": (b"\x1b\r", b"\x1b[13;3u", b"\x1b[27;3;13~"),
    "tab": (b"\t", b"\x1b[9u", b"\x1bOI", b"\x1b[105;5u"),
    "shift-tab": (b"\x1b[Z", b"\x1b[9;2u", b"\x1b[1;2Z", b"\x1b\t", b"\x1b[27;2;9~"),
    "ctrl-tab": (b"\x1b[9;5u", b"\x1b[27;5;9~"),
    "backspace": (b"\x7f", b"\x1b[127u", b"\x1b[27;1;8~", b"\x1b[63;5u"),
    "alt-backspace": (b"\x1b\x7f", b"\x1b[127;3u"),
    "escape": (b"\x1b", b"\x1b[27u", b"\x1b[91;5u"),
    "space": (b" ", b"\x1b[32u", b"\x1bO "),
    "shift-space": (b"\x1b[32;2u",),
    "ctrl-space": (b"\0", b"\x1b[32;5u", b"\x1b[64;5u", b"\x1b[27;5;32~"),
    "alt-space": (b"\x1b ", b"\x1b[32;3u"),
    "a": (b"a", b"\x1b[97u", b"\x1b[97;1u", b"\x1b[97;65u", b"\x1b[97;;97u"),
    "A": (b"A", b"\x1b[97;2u", b"\x1b[97:65;2;65u", b"\x1b[27;2;65~"),
    "!": (b"!", b"\x1b[49:33;2u", b"\x1b[27;2;33~", b"\x1b[33;2u"),
    "ctrl-c": (b"\x03", b"\x1b[99;5u", b"\x1b[27;5;99~", b"\x1b[1089::99;5u"),
    "\u0421": (b"\xd0\xa1", b"\x1b[1089:1057:99;2u"),
    "ctrl-shift-c": (b"\x1b[99;6u", b"\x1b[27;6;67~", b"\x1b[99:67;6u"),
    "alt-c": (b"\x1bc", b"\x1b[99;3u", b"\x1b[1089::99;3u"),
    "alt-C": (b"\x1bC", b"\x1b[99;4u"),
    "ctrl-alt-c": (b"\x1b\x03", b"\x1b[99;7u"),
    "ctrl-j": (b"\n", b"\x1b[106;5u"),
    "ctrl-_": (b"\x1f", b"\x1b[95;5u", b"\x1b[47;5u", b"\x1b[45:95;6u"),
    "ctrl-]": (b"\x1d", b"\x1b[93;5u"),
    "ctrl-1": (b"\x1b[49;5u",),
    "\u00e9": (b"\xc3\xa9", b"\x1b[233u", b"\x1b[0;;233u"),
    "alt-\u00e9": (b"\x1b\xc3\xa9",),
    "\u00df": (b"\x1b[223;2u",),
    "0": (b"0", b"\x1bOp", b"\x1b[57399u"),
    "+": (b"+", b"\x1bOk", b"\x1b[57413u"),
    "alt-[": (b"\x1b[91;3u",),
    "mute": (b"\x1b[57440u",),
    "text": (b"\x1b[0;;20320:22909u",),
    "alt-X": (b"\x1bX",),
    "alt-^": (b"\x1b^",),
    "alt-escape": (b"\x1b[27;3u",),
}


@pytest.mark.requirement("host:input:one-name")
@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_of_a_key_gives_its_name(name: str) -> None:
    for raw in SPELLINGS[name]:
        assert names(read(raw)) == [name], raw


def test_keys_are_read_at_any_split_and_amid_others() -> None:
    for name, spellings in SPELLINGS.items():
        for raw in spellings:
            if name != "escape":
                assert_reads(raw, *read(raw))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a", "a"),
        (b" ", " "),
        (b"\x1b[32;2u", " "),
        (b"\x1b[97;2u", "A"),
        (b"\x1b[97;;229u", "å"),
        (b"\x1b[0;;20320:22909u", "你好"),
        (b"\x1b[0;;7:97:155u", "a"),
        (b"\x1bOp", "0"),
        (b"\xe3\x80\x80", "\u3000"),
        (b"\r", ""),
        (b"\x1bx", ""),
        (b"\x03", ""),
        (b"\x1b[97;9u", ""),
        (b"\x1b[57352u", ""),
    ],
)
def test_a_key_types_its_character_unless_a_modifier_but_shift_is_held(
    raw: bytes, text: str
) -> None:
    [key] = read(raw)

    assert isinstance(key, Key)
    assert (key.text, key.raw) == (text, raw)


def test_codes_of_the_kitty_protocol_are_where_its_table_has_them() -> None:
    expected = {57358: "caps-lock", 57361: "print-screen", 57375: "f12", 57398: "f35"}
    expected |= {57408: "9", 57409: ".", 57416: ",", 57426: "delete", 57428: "media-play"}

    assert {code: CODE_KEYS[code] for code in expected} == expected
    assert frozenset(range(57441, 57455)) == CODE_STATES


def test_a_name_is_the_same_after_it_was_taken_apart() -> None:
    for key in [*KEY_NAMES, *map(chr, range(33, 127)), "é", "ß", "漢"]:
        for bits in range(1 << len(MODIFIERS)):
            held = {name for i, name in enumerate(MODIFIERS) if bits >> i & 1}
            name = key_name(key, held)
            assert key_name(*split_name(name)) == name
            assert make_key(*split_name(name), b"").name == name


def test_no_two_bytes_are_the_same_key() -> None:
    assert len({byte_key(byte).name for byte in range(256)}) == 256


# What the database of terminals says, for those that it has everywhere.
CAPABILITIES: Final = {
    "kcuu1": "up", "kcud1": "down", "kcub1": "left", "kcuf1": "right", "khome": "home",
    "kend": "end", "kpp": "page-up", "knp": "page-down", "kich1": "insert", "kdch1": "delete",
    "kcbt": "shift-tab",
} | {f"kf{number}": f"f{number}" for number in range(1, 13)} | {
    f"k{short}{bits}": f"{modifiers}-{key}"
    for short, key in {
        "UP": "up", "DN": "down", "LFT": "left", "RIT": "right", "HOM": "home", "END": "end",
        "PRV": "page-up", "NXT": "page-down", "DC": "delete", "IC": "insert",
    }.items()
    for bits, modifiers in {
        "": "shift", "3": "alt", "4": "alt-shift", "5": "ctrl", "6": "ctrl-shift", "7": "ctrl-alt",
    }.items()
}  # fmt: skip
# rxvt sends the plain arrow for these, so nobody can tell.
UNTOLD: Final = {("rxvt", f"k{name}6") for name in ("UP", "DN", "LFT", "RIT")}
CAPABILITY: Final = re.compile(r"^\t(\w+)=(.*),$", re.MULTILINE)
ESCAPED: Final = re.compile(r"\\E|\^(.)|\\(.)")


def described(terminal: str) -> dict[str, bytes]:
    """Return the keys that the database has for ``terminal``."""
    program = shutil.which("infocmp")
    if program is None:
        pytest.skip("no infocmp here")
    run = subprocess.run(
        [program, "-1x", terminal], capture_output=True, text=True, encoding="utf-8", check=False
    )
    if run.returncode:
        pytest.skip(f"the database of terminals has no {terminal}")
    return {
        name: ESCAPED.sub(_unescape, text).encode("latin-1")
        for name, text in CAPABILITY.findall(run.stdout)
        if name in CAPABILITIES and (terminal, name) not in UNTOLD
    }


def _unescape(found: re.Match[str]) -> str:
    if found[0] == r"\E":
        return "\x1b"
    return chr(ord(found[1]) ^ 0x40) if found[1] else found[2]


@pytest.mark.requirement("host:input:one-name")
@pytest.mark.parametrize(
    "terminal",
    ["xterm-256color", "vt220", "rxvt", "rxvt-unicode", "linux", "screen", "tmux-256color"],
)
def test_keys_are_read_as_the_database_of_terminals_has_them(terminal: str) -> None:
    keys = described(terminal)

    assert len(keys) > 15
    assert {name: names(read(raw)) for name, raw in keys.items()} == {
        name: [CAPABILITIES[name]] for name in keys
    }


@pytest.mark.requirement("host:input:plain")
def test_keys_are_sent_as_the_database_has_them_for_xterm() -> None:
    keys = described("xterm-256color")

    sent = {
        name: encode_key(
            Key(CAPABILITIES[name], "", b"?"), application_cursor=True, application_keypad=True
        )
        for name in keys
    }

    assert sent == keys
