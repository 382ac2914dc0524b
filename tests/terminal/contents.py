"""Content as simply as it can be said, and strategies for it, shared by the tests of content types.

The models take JSON. A text is a list of scalars, each with its style; lines are a list of such
lists, each with its layout. Nothing in them is quick, and nothing of the product is used.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

ATTRIBUTES: Final = ("bold", "dim", "italic", "underline", "strikethrough", "inverse")

# Breaks of all kinds, characters of one to four bytes and of no, one and two cells.
TEXTS: Final = st.text(alphabet="ab \t\r\n\x1b\x85é漢\u0301\u202e😀", max_size=12)
LINE_TEXTS: Final = TEXTS.map(lambda text: text.replace("\r", "").replace("\n", ""))

STYLES: Final[list[dict[str, Any]]] = [
    {"foreground": "red"},
    {"foreground": "#ff0000", "background": "bright_black"},
    {"attributes": ["bold", "inverse"]},
    {"attributes": ["inverse", "bold"]},
    {"link": "https://example.org/a?b#c"},
]
LAYOUTS: Final[list[dict[str, Any]]] = [
    {},
    {"wrap": "word", "align": "left", "first_prefix": []},
    {"wrap": "none"},
    {"rest_prefix": [{"text": "  "}]},
    {"rest_prefix": [{"text": " "}, {"text": "", "style": STYLES[0]}, {"text": " "}]},
    {"first_prefix": [{"text": "• ", "style": STYLES[2]}], "fill": {"background": "blue"}},
]


def spans(texts: st.SearchStrategy[str] = TEXTS) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return SpanLists as JSON."""
    plain = st.fixed_dictionaries({"text": texts})
    styled = st.fixed_dictionaries({"text": texts, "style": st.sampled_from(STYLES)})
    return st.lists(plain | styled, max_size=4)


def lines() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return LineLists as JSON."""
    bare = st.fixed_dictionaries({"spans": spans(LINE_TEXTS)})
    laid_out = st.fixed_dictionaries(
        {"spans": spans(LINE_TEXTS), "layout": st.sampled_from(LAYOUTS)}
    )
    return st.lists(bare | laid_out, max_size=4)


def as_json(data: object) -> Any:
    """Return data of any type as a reader of JSON gets it."""
    return msgspec.json.decode(msgspec.json.encode(data))


# the models -------------------------------------------------------------------------------
Scalars = list[tuple[str, str]]


def style_key(style: dict[str, Any] | None) -> str:
    """Return what is equal for equal styles."""
    style = dict(style or {})
    if "attributes" in style:
        style["attributes"] = sorted(style["attributes"])
    return json.dumps(style, sort_keys=True)


def scalars_of(span_list: list[dict[str, Any]]) -> Scalars:
    return [(char, style_key(span.get("style"))) for span in span_list for char in span["text"]]


def layout_key(layout: dict[str, Any] | None) -> str:
    """Return what is equal for layouts that lay out alike: defaults filled in."""
    layout = layout or {}
    return json.dumps(
        [
            layout.get("wrap", "word"),
            layout.get("align", "left"),
            scalars_of(layout.get("first_prefix", [])),
            scalars_of(layout.get("rest_prefix", [])),
            layout.get("fill"),
        ]
    )


class PlainModel:
    """A text."""

    def __init__(self, data: str) -> None:
        self.value = data

    def text(self) -> str:
        return self.value

    def refuses(self, _fragment: str, _retain: int | None = None) -> bool:
        return False

    def extend(self, fragment: str) -> None:
        self.value += fragment

    def cut(self, retain: int) -> None:
        self.value = self.value[:retain]

    def spelled(self) -> Any:
        return self.value

    @staticmethod
    def spell(data: str) -> Any:
        """Return JSON data in the words of the model."""
        return data


class StyledModel:
    """Scalars in styles."""

    def __init__(self, data: list[dict[str, Any]]) -> None:
        self.value = scalars_of(data)

    def text(self) -> str:
        return "".join(char for char, _style in self.value)

    def refuses(self, _fragment: list[Any], _retain: int | None = None) -> bool:
        return False

    def extend(self, fragment: list[dict[str, Any]]) -> None:
        self.value += scalars_of(fragment)

    def cut(self, retain: int) -> None:
        del self.value[retain:]

    def spelled(self) -> Any:
        return self.value

    @staticmethod
    def spell(data: list[dict[str, Any]]) -> Any:
        return scalars_of(data)


class LinesModel:
    """Lines of scalars in styles, each with a layout."""

    def __init__(self, data: list[dict[str, Any]]) -> None:
        self.value: list[tuple[Scalars, str]] = self.spell(data)

    def text(self) -> str:
        return "\n".join("".join(char for char, _style in line) for line, _layout in self.value)

    def refuses(self, fragment: list[dict[str, Any]], retain: int | None = None) -> bool:
        """Tell whether the first line gives a layout that the line it continues does not have."""
        kept = LinesModel([])
        kept.value = list(self.value)
        if retain is not None:
            kept.cut(retain)
        if not fragment or "layout" not in fragment[0] or not kept.value or not kept.value[-1][0]:
            return False
        return layout_key(fragment[0]["layout"]) != kept.value[-1][1]

    def extend(self, fragment: list[dict[str, Any]]) -> None:
        if not fragment:
            return
        first, *others = self.spell(fragment)
        if not self.value:
            self.value = [first]
        else:
            line, layout = self.value[-1]
            if not line and "layout" in fragment[0]:
                layout = first[1]
            self.value[-1] = (line + first[0], layout)
        self.value += others

    def cut(self, retain: int) -> None:
        kept = []
        for line, layout in self.value:
            if retain < 0:
                break
            kept.append((line[:retain], layout))
            retain -= len(line) + 1
        self.value = kept

    def spelled(self) -> Any:
        return self.value

    @staticmethod
    def spell(data: list[dict[str, Any]]) -> list[tuple[Scalars, str]]:
        return [(scalars_of(line["spans"]), layout_key(line.get("layout"))) for line in data]
