"""What breaks a schema, and where; what keeps it but breaks a rule of validity; what is a link."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from blockwire.errors import RemoteProtocolError
from blockwire.terminal.types import (
    CONTENT_TYPES,
    LINK_CHARS_MAX,
    PREFIX_CHARS_MAX,
    fragment_schema,
    is_valid_link,
    read_fragment,
)
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.terminal.contents import LAYOUTS, STYLES, TEXTS, as_json, lines, spans


def validator(schema: Any) -> Draft202012Validator:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def span(**style: Any) -> dict[str, Any]:
    return {"text": "a", "style": style}


def laid_out(**layout: Any) -> dict[str, Any]:
    return {"spans": [], "layout": layout}


# (type, data, pointer)
MALFORMED: Final[list[tuple[str, Any, str]]] = [
    (PLAIN, 1, ""),
    (PLAIN, None, ""),
    (PLAIN, ["a"], ""),
    (STYLED, "a", ""),
    (STYLED, {}, ""),
    (STYLED, None, ""),
    (STYLED, [1], "/0"),
    (STYLED, [{}], "/0"),
    (STYLED, [{"text": "a"}, {"text": 1}], "/1/text"),
    (STYLED, [{"text": None}], "/0/text"),
    (STYLED, [{"text": "a", "style": None}], "/0/style"),
    (STYLED, [{"text": "a", "Style": {}}], "/0"),
    (STYLED, [{"text": "a", "spans": []}], "/0"),
    (STYLED, [{"text": "a"}, {"spans": []}], "/1"),
    (STYLED, [{"text": "a", " - at `$[7]": 1}], "/0"),
    (STYLED, [span(foreground="Red")], "/0/style/foreground"),
    (STYLED, [span(foreground="orange")], "/0/style/foreground"),
    (STYLED, [span(foreground="red\n")], "/0/style/foreground"),
    (STYLED, [span(foreground="#FF0000")], "/0/style/foreground"),
    (STYLED, [span(foreground="#ff000")], "/0/style/foreground"),
    (STYLED, [span(foreground="#ff00000")], "/0/style/foreground"),
    (STYLED, [span(foreground="#ff0000\n")], "/0/style/foreground"),
    (STYLED, [span(foreground="\uff03ff0000")], "/0/style/foreground"),
    (STYLED, [span(background="")], "/0/style/background"),
    (STYLED, [span(background=7)], "/0/style/background"),
    (STYLED, [span(attributes="bold")], "/0/style/attributes"),
    (STYLED, [span(attributes=["bold", "blink"])], "/0/style/attributes/1"),
    (STYLED, [span(attributes=["bold", True])], "/0/style/attributes/1"),
    (STYLED, [span(attributes=["bold", "dim", "bold"])], "/0/style/attributes"),
    (STYLED, [{"text": "a"}, span(attributes=["dim", "dim"])], "/1/style/attributes"),
    (STYLED, [span(link=None)], "/0/style/link"),
    (STYLED, [span(colour="red")], "/0/style"),
    (LINES, "a", ""),
    (LINES, [[]], "/0"),
    (LINES, [{}], "/0"),
    (LINES, [{"spans": []}, {"text": "a"}], "/1"),
    (LINES, [{"spans": [], "layout": None}], "/0/layout"),
    (LINES, [{"spans": [{"text": "a"}, {}]}], "/0/spans/1"),
    (LINES, [{"spans": [span(attributes=["dim", "dim"])]}], "/0/spans/0/style/attributes"),
    (LINES, [laid_out(wrap="Word")], "/0/layout/wrap"),
    (LINES, [laid_out(align="justify")], "/0/layout/align"),
    (LINES, [laid_out(indent=2)], "/0/layout"),
    (LINES, [laid_out(first_prefix="> ")], "/0/layout/first_prefix"),
    (LINES, [laid_out(rest_prefix=[{"text": "a"}, 1])], "/0/layout/rest_prefix/1"),
    (LINES, [laid_out(fill="blue")], "/0/layout/fill"),
    (LINES, [laid_out(fill={"background": "blau"})], "/0/layout/fill/background"),
    (LINES, [laid_out(fill={"attributes": ["dim", "dim"]})], "/0/layout/fill/attributes"),
    (
        LINES,
        [laid_out(first_prefix=[{"text": ""}, span(attributes=["dim", "dim"])])],
        "/0/layout/first_prefix/1/style/attributes",
    ),
]


@pytest.mark.parametrize(("name", "value", "pointer"), MALFORMED)
@pytest.mark.requirement("terminal:types:schema", "terminal:types:closed")
@pytest.mark.requirement("terminal:styled:schema", "terminal:lines:schema")
def test_what_breaks_the_schema_is_an_invalid_message(name: str, value: Any, pointer: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        CONTENT_TYPES[name].read_data(value)
    assert (caught.value.code, caught.value.pointer) == ("invalid_message", pointer)
    assert not validator(CONTENT_TYPES[name].schema()).is_valid(value)


def test_a_refusal_repeats_little_of_what_it_refuses_and_nothing_that_acts() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        CONTENT_TYPES[STYLED].read_data([{"text": "a", "\x1b]0;" + "x" * 10_000: 1}])
    assert len(caught.value.detail) < 200
    assert caught.value.detail.isprintable()


# (type, data, whether it is valid)
VALIDITY: Final[list[tuple[str, Any, bool]]] = [
    (PLAIN, "", True),
    (PLAIN, "\x00\x1b\r\n", True),
    (STYLED, [], True),
    (STYLED, [{"text": "\x1b\n"}], True),
    *((STYLED, [{"text": "", "style": style}], True) for style in STYLES),
    (STYLED, [{"text": "a"}, {"text": "", "style": {}}], False),
    (STYLED, [span(attributes=[])], False),
    (STYLED, [span(attributes=[], foreground="red")], False),
    (STYLED, [span(link="")], False),
    (STYLED, [span(link="javascript:alert(1)")], False),
    (STYLED, [span(link="ftp://example.org", foreground="red")], False),
    (LINES, [], True),
    *((LINES, [{"spans": [], "layout": layout}], True) for layout in LAYOUTS),
    (LINES, [{"spans": [{"text": "\t\x1b\x85\u2028\x0b"}]}], True),
    (LINES, [{"spans": [{"text": "a\n"}]}], False),
    (LINES, [{"spans": []}, {"spans": [{"text": "a"}, {"text": "\r"}]}], False),
    (LINES, [{"spans": [span()]}], False),
    (LINES, [laid_out(first_prefix=[{"text": "漢" * PREFIX_CHARS_MAX}])], True),
    (LINES, [laid_out(first_prefix=[{"text": "a" * PREFIX_CHARS_MAX}, {"text": "b"}])], False),
    (LINES, [laid_out(rest_prefix=[{"text": "a" * (PREFIX_CHARS_MAX + 1)}])], False),
    *(
        (LINES, [laid_out(rest_prefix=[{"text": f"a{control}"}])], False)
        for control in "\x00\t\n\r\x1b\x1f\x7f\x80\x85\x9f"
    ),
    (LINES, [laid_out(rest_prefix=[{"text": "\xa0\u2028"}])], True),
    (LINES, [laid_out(first_prefix=[span()])], False),
    (LINES, [laid_out(rest_prefix=[span(link="http:")])], False),
    (LINES, [laid_out(fill={"background": "#012abc"})], True),
    (LINES, [laid_out(fill={})], False),
    (LINES, [laid_out(fill={"foreground": "red"})], False),
    (LINES, [laid_out(fill={"background": "red", "foreground": "red"})], False),
    (LINES, [laid_out(fill={"background": "red", "attributes": ["bold"]})], False),
    (LINES, [laid_out(fill={"background": "red", "link": "http://a"})], False),
]


@pytest.mark.parametrize(("name", "value", "is_valid"), VALIDITY)
@pytest.mark.requirement("terminal:types:validity", "terminal:styled:validity")
@pytest.mark.requirement("terminal:lines:validity", "terminal:plain:raw")
def test_what_breaks_a_rule_of_validity_is_invalid_content(
    name: str, value: Any, is_valid: bool
) -> None:
    content_type = CONTENT_TYPES[name]
    validator(content_type.schema()).validate(value)
    refusal = None if is_valid else "invalid_content"
    assert content_type.refuse_data(content_type.read_data(value)) == refusal
    # The same rules hold for what is added.
    fragment = read_fragment(value, is_empty_allowed=True)
    content = content_type.new_content(
        {PLAIN: "aa", STYLED: read_fragment([{"text": "aa"}], is_empty_allowed=False)}.get(
            name, read_fragment([{"spans": []}, {"spans": []}], is_empty_allowed=False)
        )
    )
    assert content.refuse_extend(fragment) == refusal
    assert content.refuse_replace_suffix(0, fragment) == refusal


FRAGMENTS: Final[list[tuple[Any, str | None]]] = [
    ("", "nothing"),
    ([], "nothing"),
    ("a", None),
    ([{"text": ""}], None),
    ([{"spans": []}], None),
    ([{"text": "a"}, {"spans": []}], "/1"),
    ([{"spans": []}, {"text": "a"}], "/1"),
    ([{"text": "a", "spans": []}], "/0"),
    (["a"], "/0"),
    (None, ""),
    ({}, ""),
    (0, ""),
]


@pytest.mark.parametrize(("value", "fault"), FRAGMENTS)
@pytest.mark.requirement("terminal:types:fragment-schema", "terminal:types:not-mixed")
@pytest.mark.requirement("terminal:types:fragment-not-empty")
def test_a_fragment_is_text_or_spans_or_lines(value: Any, fault: str | None) -> None:
    for is_empty_allowed in (True, False):
        schema = validator(fragment_schema(is_empty_allowed=is_empty_allowed))
        if fault is None or (fault == "nothing" and is_empty_allowed):
            assert as_json(read_fragment(value, is_empty_allowed=is_empty_allowed)) == value
            assert schema.is_valid(value)
            continue
        with pytest.raises(RemoteProtocolError) as caught:
            read_fragment(value, is_empty_allowed=is_empty_allowed)
        assert caught.value.code == "invalid_message"
        assert caught.value.pointer == ("" if fault == "nothing" else fault)
        assert not schema.is_valid(value)


@given(TEXTS | spans() | lines(), st.data())
def test_schema_and_reader_agree_on_what_a_mutation_makes(value: Any, data: st.DataObject) -> None:
    mutated = mutate(value, data)
    for content_type in CONTENT_TYPES.values():
        try:
            content_type.read_data(mutated)
            is_read = True
        except RemoteProtocolError:
            is_read = False
        assert validator(content_type.schema()).is_valid(mutated) == is_read


def mutate(value: Any, data: st.DataObject) -> Any:
    """Return ``value`` with something else in one place."""
    if isinstance(value, list) and value and data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(value) - 1))
        return [*value[:index], mutate(value[index], data), *value[index + 1 :]]
    if isinstance(value, dict) and data.draw(st.booleans()):
        name = data.draw(st.sampled_from([*value, "text", "spans", "style", "x"]))
        return {**value, name: mutate(value.get(name), data)}
    others: list[Any] = [
        None,
        True,
        0,
        "",
        "red",
        "bold",
        [],
        ["bold"],
        ["dim", "dim"],
        {},
        [{"text": ""}],
    ]
    return data.draw(st.sampled_from([value, *others]))


LINKS: Final = [
    "http://a",
    "https://example.org",
    "HTTPS://EXAMPLE.ORG/",
    "https://example.org:8080/a/b;c=d?e=f&g#h?/i",
    "https://example.org?q",
    "https://example.org#f",
    "https://example.org:/",
    "http://127.0.0.1/",
    "http://[::1]:80/",
    "https://xn--bcher-kva.example/%C3%BC",
    "https://example.org/a@b:c!$&'()*+,;=~",
    "mailto:a@example.org",
    "mailto:a@example.org,b@example.org?subject=c%20d",
    "mailto:%22a%22@example.org",
    "https://a/" + "b" * (LINK_CHARS_MAX - 10),
]

NO_LINKS: Final = [
    "",
    "a",
    "/a",
    "//example.org/",
    "example.org",
    "http",
    "http:",
    "http:/a",
    "http://",
    "http:///a",
    "http://?a",
    "http://:80/",
    "https:example.org",
    "https:\\\\example.org",
    " https://example.org",
    "https://example.org ",
    "https://example.org/a b",
    "https://example.org/\n",
    "https://example.org\n",
    "https://example.org/\x00",
    "https://example.org/\x07",
    "https://example.org/\x1b\\",
    "https://example.org/\x9c",
    "https://example.org/\t",
    "java\nscript:alert(1)",
    "https://example.org/\u202e",
    "https://example.org/ü",
    "https://ехample.org/",
    "https://example\u3002org/",
    "https://user@example.org/",
    "https://example.org@evil.example/",
    "https://user:secret@example.org/",
    "https://example.org:80@evil.example/",
    "https://example.org:port/",
    "https://example.org\\@evil.example/",
    "https://[::1/",
    "https://[::1]a/",
    "https://[zz]/",
    "https://[]/",
    "https://a%/",
    "https://a/%",
    "https://a/%2",
    "https://a/%zz",
    'https://a/"',
    "https://a/<b>",
    "https://a/{b}",
    "https://a/b|c",
    "https://a/b^c",
    "https://a/`b`",
    "https://a/[b]",
    "https://a/#b#c",
    "mailto:",
    "mailto:?subject=a",
    "mailto:a b@example.org",
    "mailto:a@example.org\r\nbcc:b",
    "mailto://\x1b",
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,a",
    "vbscript:a",
    "file:///etc/passwd",
    "ftp://example.org/",
    "ssh://example.org/",
    "httpx://example.org/",
    "xhttp://example.org/",
    "view-source:https://example.org/",
    "about:blank",
    "tel:1",
    "https://a/" + "b" * (LINK_CHARS_MAX - 9),
    "https://" + "%41" * 100_000 + "\x00",
]


@pytest.mark.parametrize("link", LINKS)
def test_links_are_absolute_uris(link: str) -> None:
    assert is_valid_link(link)


@pytest.mark.parametrize("link", NO_LINKS, ids=lambda link: ascii(link[:40]))
@pytest.mark.requirement("terminal:styled:link")
def test_what_is_no_uri_of_these_schemes_is_no_link(link: str) -> None:
    assert not is_valid_link(link)


@given(
    st.sampled_from(LINKS[:-1]), st.characters(categories=["Cc", "Cf", "Zs", "Zl", "Zp"]), st.data()
)
@pytest.mark.requirement("terminal:styled:link")
def test_no_link_holds_anything_that_nobody_sees(link: str, char: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(link)))
    assert not is_valid_link(link[:at] + char + link[at:])
