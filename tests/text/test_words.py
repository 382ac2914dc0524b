"""Text to words: folding, names, scripts without blanks, emoji."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.text.words import WORD_CHARS_MAX, _fold, fold_words, split_runs, split_words

WORDS: list[tuple[str, list[str]]] = [
    ("", []),
    ("?! -- __ \u0301", []),
    ("Hello, World", ["hello", "world"]),
    ("don't", ["don", "t"]),
    ("3.14 1,000", ["3", "14", "1", "000"]),
    ("nul\u0000in", ["nul", "in"]),
    ("\x1b[1;31mred\x1b[0m\x1b[K \x1b7x", ["red", "7x"]),
    ("\x1b[32m\u00e9\x1b[m", ["e"]),
    # accents, case, compatibility forms
    ("Caf\u00e9 cafe\u0301", ["cafe", "cafe"]),
    ("STRASSE Stra\u00dfe", ["strasse", "strasse"]),
    ("\u0130stanbul \u0131", ["istanbul", "i"]),
    ("\u0142\u00f8\u00e6\u0153", ["loaeoe"]),
    ("\ufb01n \uff21\uff22", ["fin", "ab"]),
    ("\u00bd \u2474", ["12", "1"]),
    ("\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd", ["\u05e9\u05dc\u05d5\u05dd"]),
    ("\u0647\u064e\u0645", ["\u0647\u0645"]),
    # marks that make another letter stay
    ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
    ("a\u00adb c\u200dd e\u034ff", ["ab", "cd", "ef"]),
    ("1\ufe0f\u20e3", ["1"]),
    ("x\U000e0100", ["x"]),
    # names
    ("parseHttpRequest", ["parsehttprequest", "parse", "http", "request"]),
    ("parse_http", ["parsehttp", "parse", "http"]),
    ("HTTPServer", ["httpserver", "http", "server"]),
    ("HTTP2 HTTP sha256 Word", ["http2", "http", "sha256", "word"]),
    ("SHA256Sum", ["sha256sum", "sha256", "sum"]),
    ("__init__ a__b_", ["init", "ab", "a", "b"]),
    ("\u00dcberGr\u00f6\u00dfe", ["ubergrosse", "uber", "grosse"]),
    ("\u00fcber_gro\u00df", ["ubergross", "uber", "gross"]),
    ("o\u0301A", ["oa", "o", "a"]),
    ("os.path.join src/a.py", ["os", "path", "join", "src", "a", "py"]),
    # scripts without blanks
    ("\u6771", ["\u6771"]),
    ("\u6771\u4eac\u90fd", ["\u6771\u4eac", "\u4eac\u90fd", "\u90fd"]),
    ("Py\u6771\u4eac3", ["py", "\u6771\u4eac", "\u4eac", "3"]),
    ("\uff76\uff9e\uff77", ["\u30ac\u30ad", "\u30ad"]),
    ("\u304b\u3099\u304d", ["\u304c\u304d", "\u304d"]),
    ("\ud55c\uad6d", ["\ud55c\uad6d", "\uad6d"]),
    ("\u1112\u1161\u11ab\u1100\u116e\u11a8", ["\ud55c\uad6d", "\uad6d"]),
    ("\u0e2a\u0e27\u0e31\u0e2a", ["\u0e2a\u0e27\u0e31", "\u0e27\u0e31\u0e2a", "\u0e2a"]),
    # emoji
    ("\U0001f680\U0001f680", ["\U0001f680", "\U0001f680"]),
    ("\U0001f469\U0001f3fd\u200d\U0001f4bb", ["\U0001f469", "\U0001f4bb"]),
    ("\U0001f1e9\U0001f1ea\U0001f1eb", ["\U0001f1e9\U0001f1ea", "\U0001f1eb"]),
    ("\u2764\ufe0f", ["\u2764"]),
    # long ones count by their beginning
    ("a" * 100, ["a" * WORD_CHARS_MAX]),
    ("\u00e9" * 100, ["e" * WORD_CHARS_MAX]),
]  # fmt: skip


@pytest.mark.requirement("search:words:folded")
@pytest.mark.parametrize(("text", "words"), WORDS)
def test_a_text_has_these_words(text: str, words: list[str]) -> None:
    assert [word.text for word in split_words(text)] == words
    assert fold_words(text) == words


TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(st.sampled_from("aA1_ .\u00e9\u0130\u6771\uff9e\U0001f680\u0301\u200d\u1112\u1161"), max_size=12),
)  # fmt: skip


@given(TEXTS)
def test_words_with_and_without_places_are_the_same(text: str) -> None:
    assert fold_words(text) == [word.text for word in split_words(text)]


@given(TEXTS)
def test_words_hold_no_blank_and_no_sign(text: str) -> None:
    for word in fold_words(text):
        assert not any(char.isascii() and not char.isalnum() for char in word)
        assert 0 < len(word) <= WORD_CHARS_MAX
        assert word.split() == [word]


@given(TEXTS)
def test_places_are_in_order_and_hold_their_words(text: str) -> None:
    last = 0
    for run in split_runs(text):
        for word in run.words:
            assert last <= word.start < word.end <= len(text) or run.is_name or run.kind == "solid"
            assert _fold(text[word.start : word.end]) == word.text
        last = max(word.end for word in run.words)


def test_runs_say_what_they_are() -> None:
    found = [(run.kind, run.is_name) for run in split_runs("ab aB \u6771\u4eac \U0001f680")]
    assert found == [("plain", False), ("plain", True), ("solid", False), ("emoji", False)]
