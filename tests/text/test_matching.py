"""What matches, how well, and the snippet that shows it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.text import SearchQuery, TextWords, clusters, cut_snippet, parse_query, strong_words
from blockwire.text.matching import PART_BREAK, SNIPPET_CHARS, find_places

FILLER = "the quick brown fox jumps over a lazy dog " * 30


def marked(query: str, text: str) -> str:
    """Return the snippet with brackets around what was found."""
    snippet = cut_snippet(parse_query(query), text)
    shown = snippet.text
    for start, end in reversed(snippet.matches):
        shown = f"{shown[:start]}[{shown[start:end]}]{shown[end:]}"
    assert text[snippet.start :].startswith(snippet.text)
    assert snippet.is_cut == (snippet.start + len(snippet.text) < len(text))
    return shown


@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("fox", "the Fox!", "the [Fox]!"),
        ('"the fox" the', "the fox the", "[the fox] [the]"),
        ("a b", "b c a a", "[b] c [a] [a]"),
        ("begin*", "beginning, begin", "[beginning], [begin]"),
        ("http", "parseHttpRequest", "parse[Http]Request"),
        ("parseHttpRequest http", "parseHttpRequest", "[parseHttpRequest]"),
        ("\u4eac\u90fd", "\u6771\u4eac\u90fd\u306b", "\u6771[\u4eac\u90fd]\u306b"),
        ("\u4eac", "\u6771\u4eac\u90fd", "\u6771[\u4eac]\u90fd"),
        ("\u90fd", "\u6771\u4eac\u90fd x", "\u6771\u4eac[\u90fd] x"),
        ('"x \u4eac"', "x \u4eac\u90fd", "[x \u4eac]\u90fd"),
        ("cafe", "Cafe\u0301.", "[Cafe\u0301]."),
        ("nothing", "short", "short"),
        ('"a b c d"*', "a b c", "a b c"),
    ],
)
def test_a_short_text_is_shown_whole(query: str, text: str, shown: str) -> None:
    assert marked(query, text) == shown


@pytest.mark.requirement("search:snippet:cut")
def test_a_long_text_is_cut_at_blanks_around_the_densest_place() -> None:
    shown = marked("needle thread", f"{FILLER}needle {FILLER}a needle and thread. {FILLER}")
    assert shown.count("[needle] and [thread]") == 1
    assert not shown.startswith(" ")
    assert set(shown.replace("[", "").replace("]", "").replace(".", "").split()) <= {
        *FILLER.split(),
        "needle",
        "and",
        "thread",
    }
    assert len(shown) <= SNIPPET_CHARS + 20


def test_without_a_match_the_beginning_is_shown() -> None:
    snippet = cut_snippet(parse_query("nothing"), FILLER)
    assert (snippet.start, snippet.is_cut, snippet.matches) == (0, True, [])
    assert FILLER.startswith(snippet.text)


def test_one_long_match_is_shown_whole() -> None:
    text = "x" * 1000
    snippet = cut_snippet(parse_query("x" * 64 + "*"), f"{FILLER}{text}{FILLER}")
    assert snippet.text.count("x") >= 1000


@pytest.mark.parametrize("piece", ["\U0001f469\u200d\U0001f4bb", "e\u0301", "\u6771"])
def test_a_cut_without_blanks_parts_no_cluster(piece: str) -> None:
    text = f"{piece * 200}needle{piece * 200}"
    snippet = cut_snippet(parse_query("needle*"), text)
    boundaries = {0}
    place = 0
    for cluster in clusters(text):
        place += len(cluster)
        boundaries.add(place)
    assert {snippet.start, snippet.start + len(snippet.text)} <= boundaries


def test_repetition_and_shortness_make_a_text_strong() -> None:
    assert strong_words(["a", "b", "a", PART_BREAK]) == ["a", "b"]
    long = ["a", "b", "a", *("x" for _ in range(40))]
    assert strong_words(long) == ["a", "x"]
    assert strong_words([*long, *map(str, range(200)), PART_BREAK, PART_BREAK]) == ["x"]
    assert strong_words([]) == []


@pytest.mark.parametrize(
    ("query", "is_strong"),
    [("deep", True), ("deep*", True), ("lake", False), ("deep lake", False), ('"so deep"', False),
     ("la*", False), ('"deep deep"', True)],
)  # fmt: skip
def test_a_query_is_strong_when_all_of_it_is(query: str, is_strong: bool) -> None:
    words = TextWords(["so deep a lake, deep deep " + " ".join(map(str, range(40)))])
    assert words.is_strong(parse_query(query)) == is_strong


def test_a_phrase_ends_with_its_part() -> None:
    words = TextWords(["one two", "", "three", "?"])
    assert words.words == ["one", "two", PART_BREAK, PART_BREAK, "three"]
    assert words.matches(parse_query("two three"))
    assert not words.matches(parse_query('"two three"'))


def test_more_of_it_and_less_beside_it_scores_higher() -> None:
    query = parse_query("word")
    scores = [
        TextWords([text]).score(query)
        for text in ("word word", "word", "word and more", f"word {FILLER}", "none")
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 5
    assert TextWords(["a b"]).score(parse_query("a b")) < 2_000_000


TEXTS = st.text(st.sampled_from("abAB _.-\u6771\u4eac\u0301\U0001f680"), max_size=40)
QUERIES = st.text(st.sampled_from('ab*"-B_ \u6771\u4eac\U0001f680'), min_size=1, max_size=8)


def query_of(text: str) -> SearchQuery | None:
    try:
        return parse_query(text)
    except Exception:  # noqa: BLE001 - another test looks at refusals
        return None


@given(TEXTS, QUERIES)
def test_places_are_apart_in_order_and_there_when_it_matches(text: str, typed: str) -> None:
    query = query_of(typed)
    if query is None:
        return
    places = find_places(query, text)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(a[1] < b[0] for a, b in pairwise(places))
    words = TextWords([text])
    if words.matches(query):
        assert places
        assert words.score(query) > 0
        snippet = cut_snippet(query, text, chars=8)
        assert snippet.matches


def test_many_places_are_all_found_and_some_shown() -> None:
    query, text = parse_query("ab*"), "abc " * 20_000
    assert len(find_places(query, text)) == 20_000
    assert len(cut_snippet(query, text).matches) == SNIPPET_CHARS // 4
