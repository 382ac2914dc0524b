"""What people type into a search box."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import RemoteProtocolError
from blockwire.text import Clause, Phrase, SearchQuery, TextWords, parse_query
from blockwire.text.search_query import QUERY_CHARS_MAX, QUERY_CLAUSES_MAX, QUERY_WORDS_MAX


def clause(*phrases: str) -> Clause:
    return Clause(
        tuple(
            Phrase(tuple(phrase.removesuffix("*").split()), phrase.endswith("*"))
            for phrase in phrases
        )
    )


WANTED: list[tuple[str, list[Clause]]] = [
    ("a", [clause("a")]),
    ("One TWO", [clause("one"), clause("two")]),
    ("a b a", [clause("a"), clause("b")]),
    ('"one two" x', [clause("one two"), clause("x")]),
    ('"one two', [clause("one two")]),
    ('a"b c"d', [clause("a"), clause("b c"), clause("d")]),
    ('"" a "+"', [clause("a")]),
    ("ab*", [clause("ab*")]),
    ("ab** *", [clause("ab*")]),
    ("a*", [clause("a")]),
    ('"one tw"*', [clause("one tw*")]),
    ("a*b", [clause("a b")]),
    ("don't", [clause("don t")]),
    ("os.path*", [clause("os path*")]),
    # names
    ("parseHttp", [clause("parsehttp", "parse http")]),
    ("parse_ht*", [clause("parseht*", "parse ht*")]),
    ("x.parseHttp", [clause("x parsehttp parse http")]),
    ("x.parseHt*", [clause("x parseht*")]),
    ('"parseHttp"', [clause("parsehttp parse http")]),
    ('"parseHt"*', [clause("parseht*")]),
    ('"aB c"', [clause("ab a b c")]),
    # solid scripts
    ("\u6771\u4eac\u90fd", [clause("\u6771\u4eac \u4eac\u90fd")]),
    ("\u6771", [clause("\u6771*")]),
    ("\u6771\u4eac*", [clause("\u6771\u4eac")]),
    ("x\u6771\u4eac", [clause("x \u6771\u4eac")]),
    ("\u6771\u4eacx", [clause("\u6771\u4eac \u4eac x")]),
    ("\U0001f680*", [clause("\U0001f680")]),
    # no minus
    ("--flag a-b - c", [clause("flag"), clause("a b"), clause("c")]),
]


@pytest.mark.requirement("search:query:words")
@pytest.mark.parametrize(("text", "wanted"), WANTED)
def test_a_query_wants(text: str, wanted: list[Clause]) -> None:
    assert parse_query(text) == SearchQuery(tuple(wanted))


@pytest.mark.requirement("search:query:words")
def test_a_minus_takes_a_word_or_a_phrase_away() -> None:
    query = parse_query('a -b -"c d" -ef* -')
    assert query.wanted == (clause("a"),)
    assert query.unwanted == (clause("b"), clause("c d"), clause("ef*"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "?!",
        "-a",
        '-"a b" ""',
        "a" * (QUERY_CHARS_MAX + 1),
        " ".join(f"w{n}" for n in range(QUERY_CLAUSES_MAX + 1)),
        '"' + "x " * (QUERY_WORDS_MAX + 1) + '"',
    ],
)
def test_a_query_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        parse_query(text)
    assert caught.value.code == "invalid_query"


@given(st.text(max_size=40))
def test_any_text_is_a_query_or_refused(text: str) -> None:
    with suppress(RemoteProtocolError):
        assert parse_query(text).wanted


@given(st.text(min_size=1, max_size=20))
def test_a_text_is_found_by_itself_as_a_phrase(text: str) -> None:
    try:
        query = parse_query(f'"{text.replace(chr(34), " ")}"')
    except RemoteProtocolError:
        return
    assert TextWords([text.replace('"', " ")]).matches(query)
