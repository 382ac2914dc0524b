# ruff: noqa: D103, INP001 - data beside its program, not a package
"""What content types make of data, fragments and replacements: written by hand, type by type."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

Record: TypeAlias = dict[str, Any]

MESSAGE: Final = "invalid_message"
CONTENT: Final = "invalid_content"
BOUNDARY: Final = "invalid_content_boundary"


class Step(NamedTuple):
    """A change, and why it is refused; ``retain`` is None for an extend."""

    retain: int | None
    added: Any
    code: str | None = None


class Case(NamedTuple):
    """Data, what happens to it, and what it is in the end.

    Attributes:
        content: In normal form; None if the data is refused.
        rows: What each line shows, and what copying all of it gives; None: left open.
    """

    name: str
    requirement: str | list[str]
    data: Any
    content: Any
    steps: tuple[Step, ...] = ()
    code: str | None = None
    rows: tuple[tuple[str, str], ...] | None = None


def extend(fragment: Any, code: str | None = None) -> Step:
    return Step(None, fragment, code)


def replace(retain: int, replacement: Any, code: str | None = None) -> Step:
    return Step(retain, replacement, code)


def bad(name: str, requirement: str, data: Any, code: str) -> Case:
    return Case(name, requirement, data, None, code=code)


# text/plain ----------------------------------------------------------------------------------
FAMILY: Final = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
FLAG: Final = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

PLAIN: Final = (
    Case("nothing", "terminal:plain:empty-row", "", "", rows=(("", ""),)),
    Case("a number", "terminal:types:schema", 1, None, code=MESSAGE),
    Case("null", "terminal:types:schema", None, None, code=MESSAGE),
    Case("spans for text", "terminal:types:schema", [{"text": "a"}], None, code=MESSAGE),
    Case("extends join", "terminal:types:extend-joins", "a", "abc", (extend("b"), extend("c"))),
    Case(
        "nothing is normalised",
        "terminal:plain:raw",
        "e\u0301",
        "e\u0301\u00e9\u212b",
        (extend("\u00e9\u212b"),),
    ),
    Case("retain none", "terminal:types:suffix-joins", "abc", "x", (replace(0, "x"),)),
    Case("retain all but one", "terminal:types:suffix-joins", "abc", "abx", (replace(2, "x"),)),
    Case("replace by nothing", "terminal:types:suffix-joins", "abc", "a", (replace(1, ""),)),
    Case(
        "retain all",
        ["terminal:types:boundary", "terminal:types:refusal-changes-nothing"],
        "abc",
        "abc",
        (replace(3, "x", BOUNDARY), replace(4, "", BOUNDARY), replace(2**53 - 1, "x", BOUNDARY)),
    ),
    Case("retain of nothing", "terminal:types:boundary", "", "", (replace(0, "x", BOUNDARY),)),
    Case(
        "empty fragment",
        "terminal:types:fragment-not-empty",
        "a",
        "a",
        (extend("", MESSAGE), extend([], MESSAGE)),
    ),
    Case(
        "another shape",
        "terminal:types:shape",
        "a",
        "a",
        (
            extend([{"text": "b"}], CONTENT),
            extend([{"spans": []}], CONTENT),
            replace(0, [], CONTENT),
            replace(9, [{"text": ""}], CONTENT),
        ),
    ),
    Case(
        "a fragment that is of no shape",
        ["terminal:types:fragment-schema", "terminal:types:not-mixed"],
        "a",
        "a",
        (
            extend(1, MESSAGE),
            extend(None, MESSAGE),
            extend({}, MESSAGE),
            extend(["b"], MESSAGE),
            extend([{"text": "b"}, {"spans": []}], MESSAGE),
            extend([{"spans": []}, {"text": "b"}], MESSAGE),
            extend([{"text": "b", "style": {"foreground": "Red"}}], MESSAGE),
            replace(0, [{}], MESSAGE),
        ),
    ),
    Case(
        "positions are scalars",
        "terminal:types:scalars",
        f"\r\n\t\x1b{FAMILY}",
        "\r\n\t\x1b\U0001f468\u200d\U0001f469x",
        (replace(11, "y", BOUNDARY), replace(7, "x")),
        rows=(("", ""), ("        ␛\U0001f468\u200d\U0001f469x", "\t␛\U0001f468\u200d\U0001f469x")),
    ),
    Case("a cut inside CRLF", "terminal:types:scalars", "a\r\nb", "a\rb", (replace(2, "b"),),
         rows=(("a", "a"), ("b", "b"))),
    Case("breaks", "terminal:plain:breaks", "a\nb\r\nc\rd", "a\nb\r\nc\rd",
         rows=(("a", "a"), ("b", "b"), ("c", "c"), ("d", "d"))),
    Case("CRLF of two operations", "terminal:plain:breaks", "a\r", "a\r\nb", (extend("\nb"),),
         rows=(("a", "a"), ("b", "b"))),
    Case("CRLF behind what is retained", "terminal:plain:breaks", "a\rb", "a\r\nc",
         (replace(2, "\nc"),), rows=(("a", "a"), ("c", "c"))),
    Case("LF and CR", "terminal:plain:breaks", "a\n\rb", "a\n\rb",
         rows=(("a", "a"), ("", ""), ("b", "b"))),
    Case("a break at the end", "terminal:plain:final-break", "a\n", "a\n", rows=(("a", "a"),)),
    Case("two breaks at the end", "terminal:plain:final-break", "a\r\n\r", "a\r\n\r",
         rows=(("a", "a"), ("", ""))),
    Case("a break alone", "terminal:plain:final-break", "\r", "\r", rows=(("", ""),)),
    Case("what is no break", "terminal:plain:no-other-break", "a\x0bb\x0cc\x85d\u2028e\u2029f",
         "a\x0bb\x0cc\x85d\u2028e\u2029f",
         rows=(("a␋b␌c<U+0085>d<U+2028>e<U+2029>f",) * 2,)),
    Case("controls", ["terminal:plain:labels", "terminal:plain:copied-as-label"],
         "\x00\x1b[31m\x7f\x9b1m", "\x00\x1b[31m\x7f\x9b1m", rows=(("␀␛[31m␡<U+009B>1m",) * 2,)),
    Case("what nobody sees", "terminal:plain:labels", "a\u202eb\u200bc\ufeff\U000e0041",
         "a\u202eb\u200bc\ufeff\U000e0041",
         rows=(("a<U+202E>b<U+200B>c<U+FEFF><U+E0041>",) * 2,)),
    Case("a flag made of tags", "terminal:plain:labels", f"{FLAG}\x1b", f"{FLAG}\x1b",
         rows=((f"{FLAG}␛",) * 2,)),
    Case("tabs", "terminal:plain:tab-stops", "\ta\tb\n12345678\t漢\t\x1b\t|",
         "\ta\tb\n12345678\t漢\t\x1b\t|",
         rows=(("        a       b", "\ta\tb"),
               ("12345678        漢      ␛       |", "12345678\t漢\t␛\t|"))),
)  # fmt: skip

# text/styled ---------------------------------------------------------------------------------
RED: Final = {"foreground": "red"}
BOLD: Final = {"attributes": ["bold"]}


def span(text: str, style: Any = None) -> Record:
    return {"text": text} if style is None else {"text": text, "style": style}


def styled(**style: Any) -> list[Record]:
    return [span("a", style)]


EVERYTHING: Final = {
    "foreground": "#0a1b2c",
    "background": "bright_white",
    "attributes": ["bold", "dim", "italic", "underline", "strikethrough", "inverse"],
    "link": "https://example.org/a?b=c#d",
}

STYLED: Final = (
    Case("nothing", "terminal:plain:empty-row", [], [], rows=(("", ""),)),
    Case("all members", "terminal:styled:schema", [span("a", EVERYTHING)], [span("a", EVERYTHING)]),
    Case("text for spans", "terminal:types:schema", "a", None, code=MESSAGE),
    *(
        bad(name, "terminal:styled:schema", data, MESSAGE)
        for name, data in (
            ("no text", [{}]),
            ("text null", [{"text": None}]),
            ("style null", [{"text": "a", "style": None}]),
            ("unknown member", [{"text": "a", "colour": "red"}]),
            ("differently cased member", [{"Text": "a"}]),
            ("unknown member of a style", styled(color="red")),
            ("upper-case palette name", styled(foreground="Red")),
            ("unknown palette name", styled(foreground="orange")),
            ("upper-case digits", styled(background="#FF0000")),
            ("three digits", styled(background="#f00")),
            ("colour and a break", styled(foreground="red\n")),
            ("unknown attribute", styled(attributes=["blink"])),
            ("attribute named twice", styled(attributes=["bold", "dim", "bold"])),
            ("attributes as a word", styled(attributes="bold")),
            ("link as a number", styled(link=1)),
            ("a line among spans", [span("a"), {"spans": []}]),
            ("schema before validity", [span("a", {}), span("b", {"foreground": ""})]),
        )
    ),
    *(
        bad(name, "terminal:styled:validity", data, CONTENT)
        for name, data in (
            ("empty style", styled()),
            ("empty style without text", [span("a"), span("", {})]),
            ("empty attributes", styled(attributes=[])),
            ("empty attributes beside a colour", styled(attributes=[], foreground="red")),
        )
    ),
    *(
        bad(f"link {link!a}", "terminal:styled:link", styled(link=link), CONTENT)
        for link in (
            "", "a", "/a", "//example.org", "http:", "http://", "https:///a", "javascript:alert(1)",
            "file:///etc/passwd", "ftp://example.org", "https://a b", "https://a\n", "https://a/\x1b",
            "https://a/\u202e", "https://a/%2", "https://user@example.org/", "mailto:", " http://a",
        )
    ),
    bad("refused link beside a good one", "terminal:types:validity",
        [span("a", {"link": "http://a"}), span("b", {"link": "http:"})], CONTENT),
    bad("member of the other shape", "terminal:types:closed", [{"text": "a", "layout": {}}], MESSAGE),
    Case("a fragment in three", "terminal:types:split-anywhere", [], [span("abc", RED)],
         (extend([span("a", RED)]), extend([span("b", RED)]), extend([span("c", RED)]))),
    bad("link too long", "terminal:styled:link", styled(link="http://a/" + "b" * 2040), CONTENT),
    *(
        Case(f"link {link!a}", "terminal:styled:link", styled(link=link), styled(link=link))
        for link in ("http://a", "HTTPS://[::1]:8080/%20?a#b", "mailto:a@example.org?subject=b")
    ),
    Case("longest link", "terminal:styled:link", styled(link="http://a/" + "b" * 2039),
         styled(link="http://a/" + "b" * 2039)),
    Case("normal form", "terminal:styled:normal-form",
         [span("", RED), span("a"), span("", BOLD), span("b"), span("c", RED), span("d", RED)],
         [span("ab"), span("cd", RED)]),
    Case("attributes in any order", "terminal:styled:normal-form",
         [span("a", {"attributes": ["inverse", "bold"]}), span("b", {"attributes": ["bold", "inverse"]})],
         [span("ab", {"attributes": ["bold", "inverse"]})]),
    Case("a colour is not its name", "terminal:styled:normal-form",
         [span("a", RED), span("b", {"foreground": "#ff0000"})],
         [span("a", RED), span("b", {"foreground": "#ff0000"})]),
    Case("extends join", "terminal:types:extend-joins", [span("a", RED)],
         [span("ab", RED), span("c")], (extend([span("b", RED)]), extend([span("c")]))),
    Case("a fragment without text", "terminal:types:fragment-not-empty", [span("a")], [span("a")],
         (extend([span("", RED)]), extend([], MESSAGE))),
    Case("a cut inside a span", "terminal:styled:cut-keeps-style", [span("ab", RED), span("cd", BOLD)],
         [span("ab", RED), span("c", BOLD), span("x", RED)], (replace(3, [span("x", RED)]),)),
    Case("a cut between spans", "terminal:styled:cut-keeps-style", [span("ab", RED), span("cd", BOLD)],
         [span("abx", RED)], (replace(2, [span("x", RED)]),)),
    Case("replace by nothing", "terminal:types:suffix-joins", [span("ab", RED)], [span("a", RED)],
         (replace(1, []),)),
    Case("boundary", "terminal:types:boundary", [span("ab")], [span("ab")],
         (replace(2, [], BOUNDARY), replace(2, [span("c")], BOUNDARY))),
    Case("shape and validity before the boundary", "terminal:types:shape", [span("a")], [span("a")],
         (extend("b", CONTENT), replace(9, "b", CONTENT), replace(9, [{"spans": []}], CONTENT),
          replace(9, [span("b", {})], CONTENT), extend([span("", {})], CONTENT))),
    Case("CRLF of two spans", "terminal:plain:breaks", [span("a\r", RED), span("\nb", BOLD)],
         [span("a\r", RED), span("\nb", BOLD)], rows=(("a", "a"), ("b", "b"))),
    Case("a flag of two spans", "terminal:plain:labels", [span(FLAG[:3], RED), span(FLAG[3:])],
         [span(FLAG[:3], RED), span(FLAG[3:])], rows=((FLAG, FLAG),)),
    Case("a tab behind another span", "terminal:plain:tab-stops", [span("abc", RED), span("\td")],
         [span("abc", RED), span("\td")], rows=(("abc     d", "abc\td"),)),
)  # fmt: skip

# text/lines ----------------------------------------------------------------------------------
NONE: Final = {"wrap": "none"}
RIGHT: Final = {"align": "right"}
HANGING: Final = {"first_prefix": [span("• ")], "rest_prefix": [span("  ")]}


def line(text: str, layout: Any = None) -> Record:
    spans = [span(text)] if text else []
    return {"spans": spans} if layout is None else {"spans": spans, "layout": layout}


def laid_out(**layout: Any) -> list[Record]:
    return [line("", layout)]


LINES: Final = (
    Case("no line", ["terminal:lines:zero-lines", "terminal:lines:every-line-a-row"], [], [],
         rows=(("", ""),)),
    Case("a line without text", "terminal:lines:zero-lines", [line("")], [line("")], rows=(("", ""),)),
    Case("the last line has no text", "terminal:lines:every-line-a-row", [line("a"), line("")],
         [line("a"), line("")], rows=(("a", "a"), ("", ""))),
    Case("all members", "terminal:lines:schema",
         laid_out(wrap="character", align="center", fill={"background": "#000000"}, **HANGING),
         laid_out(wrap="character", align="center", fill={"background": "#000000"}, **HANGING)),
    Case("text for lines", "terminal:types:schema", "a", None, code=MESSAGE),
    *(
        bad(name, "terminal:lines:schema", data, MESSAGE)
        for name, data in (
            ("no spans", [{}]),
            ("spans null", [{"spans": None}]),
            ("layout null", [{"spans": [], "layout": None}]),
            ("unknown member", [{"spans": [], "text": "a"}]),
            ("a span among lines", [{"spans": []}, {"text": "a"}]),
            ("unknown member of a layout", laid_out(indent=2)),
            ("unknown wrap", laid_out(wrap="Word")),
            ("unknown align", laid_out(align="justify")),
            ("prefix as text", laid_out(first_prefix="> ")),
            ("fill as a colour", laid_out(fill="blue")),
            ("malformed fill", laid_out(fill={"background": "blau"})),
            ("attribute named twice in a prefix",
             laid_out(rest_prefix=[span("a", {"attributes": ["dim", "dim"]})])),
        )
    ),
    *(
        bad(name, "terminal:lines:validity", data, CONTENT)
        for name, data in (
            ("LF in a line", [line("a\nb")]),
            ("CR in a line", [line(""), line("a\r")]),
            ("prefix of 65 scalars", laid_out(first_prefix=[span("a" * 64), span("b")])),
            ("tab in a prefix", laid_out(rest_prefix=[span("\t")])),
            ("break in a prefix", laid_out(rest_prefix=[span("a\n")])),
            ("ESC in a prefix", laid_out(first_prefix=[span("\x1b[31m")])),
            ("DEL in a prefix", laid_out(first_prefix=[span("\x7f")])),
            ("C1 in a prefix", laid_out(first_prefix=[span("\x9b")])),
            ("empty style in a prefix", laid_out(first_prefix=[span("a", {})])),
            ("empty fill", laid_out(fill={})),
            ("fill with a foreground", laid_out(fill={"foreground": "red"})),
            ("fill with more", laid_out(fill={"background": "red", "attributes": ["bold"]})),
            ("empty style in a line", [{"spans": [span("", {})]}]),
        )
    ),
    Case("prefix of 64 scalars", "terminal:lines:validity", laid_out(first_prefix=[span("漢" * 64)]),
         laid_out(first_prefix=[span("漢" * 64)])),
    Case("prefixes are not text", "terminal:lines:decoration", [line("a", HANGING), line("b", HANGING)],
         [line("a", HANGING), line("x", HANGING)], (replace(3, [], BOUNDARY), replace(2, [line("x")])),
         rows=(("a", "a"), ("x", "x"))),
    Case("tabs and controls in a line", "terminal:plain:tab-stops", [line("\x1b\t|", HANGING)],
         [line("\x1b\t|", HANGING)], rows=(("␛       |", "␛\t|"),)),
    Case("the first line continues", "terminal:lines:continues", [line("a")],
         [line("ab"), line("c", NONE)], (extend([line("b"), line("c", NONE)]),)),
    Case("styles are joined", "terminal:styled:normal-form", [{"spans": [span("a", RED)]}],
         [{"spans": [span("ab", RED), span("c")]}],
         (extend([{"spans": [span("b", RED), span("", BOLD), span("c")]}]),)),
    Case("a fragment without text", "terminal:lines:continues", [line("a")], [line("a")],
         (extend([line("")]),)),
    Case("a break alone", "terminal:lines:joined-by-lf", [line("a")], [line("a"), line("")],
         (extend([line(""), line("")]),)),
    Case("behind no line", "terminal:lines:zero-lines", [], [line("a", NONE), line("b")],
         (extend([line("a", NONE), line("b")]),)),
    Case("an empty line behind no line", "terminal:lines:zero-lines", [], [line("", NONE)],
         (extend([line("", NONE)]),)),
    Case("an absent layout keeps", "terminal:lines:layout-kept", [line("a", NONE)], [line("ab", NONE)],
         (extend([line("b")]),)),
    Case("an equal layout keeps", "terminal:lines:layout-kept", [line("a", HANGING)],
         [line("abc", HANGING)],
         (extend([line("b", HANGING)]),
          extend([line("c", {"wrap": "word", "align": "left", "first_prefix": [span("•"), span(" ")],
                             "rest_prefix": [span("  "), span("", RED)]})]))),
    Case("defaults are filled in", "terminal:lines:layout-kept", [line("a")], [line("abc")],
         (extend([line("b", {})]),
          extend([line("c", {"wrap": "word", "first_prefix": [], "rest_prefix": [span("")]})]))),
    Case("another layout", ["terminal:lines:layout-kept", "terminal:types:refusal-changes-nothing"],
         [line("a", NONE)], [line("a", NONE)],
         (extend([line("b", RIGHT)], CONTENT), extend([line("", {})], CONTENT),
          extend([line("b", RIGHT), line("c")], CONTENT))),
    Case("a line without text takes a layout", "terminal:lines:empty-takes-layout",
         [line("a"), line("", NONE)], [line("a"), line("b", RIGHT)], (extend([line("b", RIGHT)]),)),
    Case("it takes the default", "terminal:lines:empty-takes-layout", [line("", NONE)], [line("b")],
         (extend([line("b", {})]),)),
    Case("it keeps its own", "terminal:lines:empty-takes-layout", [line("", NONE)], [line("b", NONE)],
         (extend([line("b")]),)),
    Case("a cut inside a line", "terminal:lines:cut-keeps-layout", [line("ab", NONE), line("c")],
         [line("ax", NONE)], (replace(1, [line("x", RIGHT)], CONTENT), replace(1, [line("x", NONE)]))),
    Case("a cut before the break", "terminal:lines:continues", [line("a", NONE), line("b", RIGHT)],
         [line("ax", NONE)], (replace(1, [line("x")]),)),
    Case("a cut behind the break", "terminal:lines:cut-keeps-layout",
         [line("a", NONE), line("b", RIGHT)], [line("a", NONE), line("x", RIGHT)],
         (replace(2, []), extend([line("x")]))),
    Case("a line cut to nothing takes a layout", "terminal:lines:empty-takes-layout",
         [line("a"), line("b", RIGHT)], [line("a"), line("x", NONE)], (replace(2, [line("x", NONE)]),)),
    Case("retain none", "terminal:lines:cut-keeps-layout", [line("a", NONE), line("b")],
         [line("", NONE)], (replace(0, []), replace(0, [line("x")], BOUNDARY))),
    Case("retain none, with other lines", "terminal:lines:empty-takes-layout",
         [line("a", NONE), line("b")], [line("x", RIGHT), line("y")],
         (replace(0, [line("x", RIGHT), line("y")]),)),
    Case("no line has no boundary", "terminal:types:boundary", [], [],
         (replace(0, [line("a")], BOUNDARY), replace(0, [], BOUNDARY))),
    Case("shape and validity before the boundary", "terminal:types:shape", [line("a")], [line("a")],
         (extend("b", CONTENT), extend([span("b")], CONTENT), replace(9, [line("a\n")], CONTENT))),
    Case("the boundary before the layout", "terminal:types:boundary", [line("a")], [line("a")],
         (replace(1, [line("b", NONE)], BOUNDARY),)),
    Case("empty fragment", "terminal:types:fragment-not-empty", [line("a")], [line("a")],
         (extend([], MESSAGE), extend("", MESSAGE))),
)  # fmt: skip

CASES: Final = {"text/plain": PLAIN, "text/styled": STYLED, "text/lines": LINES}
