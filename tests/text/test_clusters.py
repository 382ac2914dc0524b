"""Clusters and widths against the public suite, tables of cases, and properties."""

import random
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth.table_grapheme import EXTENDED_PICTOGRAPHIC

from blockwire.text import AmbiguousWidth, clusters, cut, width
from tests.suites import suite_json, suite_path
from tests.text.texts import lines

BREAKS: Final[list[dict[str, Any]]] = suite_json("unicode/grapheme_break_17.0.0.json")["cases"]

# Rows of the suite that we do not meet. Should a new release of the library miss one, name it here.
KNOWN_MISSES: Final[frozenset[str]] = frozenset()


def test_the_suite_is_whole() -> None:
    assert len(BREAKS) == 766


@pytest.mark.parametrize("row", BREAKS, ids=lambda row: ascii(row["text"]))
@pytest.mark.requirement("text:clusters:unicode")
def test_clusters_are_those_of_the_unicode_suite(row: dict[str, Any]) -> None:
    agrees = list(clusters(row["text"])) == row["extended_clusters"]
    assert agrees != (row["text"] in KNOWN_MISSES)


CONJUNCTS: Final[list[tuple[str, list[str]]]] = [
    ("क्त", ["क्त"]),
    ("क्त्य", ["क्त्य"]),
    ("\u0600क्त", ["\u0600क्त"]),
    ("a\u094dत", ["a\u094d", "त"]),
    ("\u094dत", ["\u094d", "त"]),
    ("a\u0301\u094d\u094d\u200dतx\u094dत", ["a\u0301\u094d\u094d\u200d", "त", "x\u094d", "त"]),
    ("a\u094d", ["a\u094d"]),
]


@pytest.mark.parametrize(("text", "parts"), CONJUNCTS, ids=ascii)
def test_an_indic_linker_joins_consonants_only(text: str, parts: list[str]) -> None:
    assert list(clusters(text)) == parts


def test_many_marks_on_one_character_take_linear_time() -> None:
    text = "a" + "\u0301" * 100_000 + "\u094d" * 100_000 + "क"
    assert [len(part) for part in clusters(text)] == [200_001, 1]
    assert width(text) == 2


@given(lines() | st.text())
@example("\r\n")
@example("a\r\nb")
def test_clusters_joined_are_the_text(text: str) -> None:
    assert "".join(clusters(text)) == text


# text, cells with ambiguous 1, with 2
WIDTHS: Final[list[tuple[str, int, int]]] = [
    ("", 0, 0),
    ("hello", 5, 5),
    ("e\u0301a", 2, 2),
    ("你好", 4, 4),
    ("한국어", 6, 6),
    ("\u1112\u1161\u11ab", 2, 2),
    ("か\u3099", 2, 2),
    # A bare U+26A0 is narrow (UAX 11) unless VS16 asks for the emoji; U+231A is wide unless VS15
    # asks for the text. Case T14 of the situations leaves the last open.
    ("\u26a0", 1, 1),
    ("\u26a0\ufe0f", 2, 2),
    ("\u231a", 2, 2),
    ("\u231a\ufe0e", 1, 1),
    ("\u2764\ufe0f", 2, 2),
    ("a\ufe0f", 1, 1),
    ("1\ufe0f\u20e3", 2, 2),
    ("\U0001fae0", 2, 2),
    ("\U0001f468\u200d\U0001f469\u200d\U0001f467", 2, 2),
    ("\U0001f468\u200d\u2764\ufe0f\u200d\U0001f468", 2, 2),
    ("\U0001f44d\U0001f3fd", 2, 2),
    ("\U0001f1e9\U0001f1ea", 2, 2),
    ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 2, 2),
    # ZWJ between letters joins nothing.
    ("a\u200db", 2, 2),
    ("क्षि", 2, 2),
    ("กำ", 2, 2),
    ("│①…€", 4, 8),
    ("γ", 1, 2),
    ("\u2400", 1, 1),
    ("\ufffd", 1, 2),
    # What has no cell.
    ("\u0301", 0, 0),
    ("\x1b\x00\r\n\t", 0, 0),
    ("a\x1bb", 2, 2),
]


@pytest.mark.parametrize(("text", "narrow", "wide"), WIDTHS, ids=ascii)
@pytest.mark.case("T14")
def test_widths(text: str, narrow: int, wide: int) -> None:
    assert width(text) == narrow
    assert width(text, ambiguous_width=2) == wide


AMBIGUOUS: Final = st.sampled_from(list[AmbiguousWidth]([1, 2]))


@given(lines(), AMBIGUOUS)
@pytest.mark.requirement("text:width:sum")
def test_the_width_of_a_text_is_the_sum_over_its_clusters(
    text: str, ambiguous_width: AmbiguousWidth
) -> None:
    by_cluster = [width(part, ambiguous_width=ambiguous_width) for part in clusters(text)]
    assert width(text, ambiguous_width=ambiguous_width) == sum(by_cluster)


def test_no_mixture_of_symbols_and_marks_finds_a_width_that_is_not_the_sum() -> None:
    # Denser in what could go wrong than hypothesis would try.
    dice = random.Random(9002)
    emoji = [scalar for first, last in EXTENDED_PICTOGRAPHIC for scalar in range(first, last + 1)]
    pools: list[list[int]] = [
        emoji,
        list(range(0x1F300, 0x1F650)),
        [*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400)],
        [0xFE0F, 0xFE0E, 0x20E3, 0x0301, 0x302E, 0x3099, 0x3164, 0x200D],
        [*range(0x20, 0x7F), *range(0x2000, 0x3100), *range(0xFE00, 0x10000)],
    ]
    for _ in range(20_000):
        length = dice.randint(2, 6)
        text = "".join(chr(dice.choice(dice.choice(pools))) for _ in range(length))
        assert width(text) == sum(map(width, clusters(text))), ascii(text)


def test_the_widths_of_characters_are_those_of_unicode() -> None:
    # UAX 11, where it is plain: W and F take two cells, Na and H one.
    rows = suite_path("unicode/EastAsianWidth-15.0.txt").read_text(encoding="utf-8").splitlines()
    cells = {"W": 2, "F": 2, "Na": 1, "H": 1}
    odd: list[str] = []
    for row in rows:
        scalars, _, kind = row.partition("#")[0].strip().partition(";")
        first, _, last = scalars.partition("..")
        if kind in cells:
            odd += [
                f"{scalar:04X}"
                for scalar in range(int(first, 16), int(last or first, 16) + 1)
                if chr(scalar).isprintable() and width(chr(scalar)) != cells[kind]
            ]
    # Marks and fillers by themselves have no cell.
    marks = "302A 302B 302C 302D 302E 302F 3099 309A 3164 FFA0 16FE4 16FF0 16FF1"
    assert odd == marks.split()


@pytest.mark.requirement("text:width:emoji")
def test_every_emoji_sequence_takes_two_cells() -> None:
    for name in ("emoji-zwj-sequences-15.0.txt", "emoji-variation-sequences-15.0.txt"):
        for row in suite_path(f"unicode/{name}").read_text(encoding="utf-8").splitlines():
            fields = row.partition("#")[0].split(";")
            if len(fields) > 1 and "text style" not in fields[1]:
                emoji = "".join(chr(int(scalar, 16)) for scalar in fields[0].split())
                assert list(clusters(emoji)) == [emoji]
                assert width(emoji) == 2, ascii(emoji)


CUTS: Final[list[tuple[str, int, str]]] = [
    ("hello", 3, "hel"),
    ("hello", 9, "hello"),
    ("hello", 0, ""),
    ("hello", -1, ""),
    ("你好", 3, "你"),
    ("你好", 4, "你好"),
    ("你好", 1, ""),
    ("e\u0301e\u0301", 1, "e\u0301"),
    ("a\u26a0\ufe0f", 2, "a"),
    ("é", -1, ""),
]


@pytest.mark.parametrize(("text", "width_cells", "beginning"), CUTS, ids=ascii)
@pytest.mark.requirement("text:cut:whole-clusters")
def test_a_text_is_cut_in_whole_clusters(text: str, width_cells: int, beginning: str) -> None:
    assert cut(text, width_cells) == beginning


@given(lines(), st.integers(0, 20), AMBIGUOUS)
def test_a_cut_is_the_longest_beginning_that_fits(
    text: str, width_cells: int, ambiguous_width: AmbiguousWidth
) -> None:
    beginning = cut(text, width_cells, ambiguous_width=ambiguous_width)
    assert text.startswith(beginning)
    assert width(beginning, ambiguous_width=ambiguous_width) <= width_cells
    parts = list(clusters(text))
    kept = list(clusters(beginning))
    assert parts[: len(kept)] == kept
    if len(kept) < len(parts):
        longer = "".join(parts[: len(kept) + 1])
        assert width(longer, ambiguous_width=ambiguous_width) > width_cells
