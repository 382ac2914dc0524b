"""Literal text to Markdown that reads as that text, whatever it holds.

Spec: docs/spec/rendering/markdown-document.md.
"""

from __future__ import annotations

import re
from typing import Final

from blockwire.text import label_controls

__all__ = ["code_span", "fenced", "literal_line", "literal_lines"]

# What can mean something wherever it stands: marks, and what readers of the web make links of.
_MARKUP: Final = re.compile(
    r"[\\`*\[\]<|~$^]|(?<![^\W_])_|_(?![^\W_])|&(?=[#a-zA-Z])|!(?=\[)|:(?=//)|(?<=www)\.|@(?=\w)"
)
# What means something at the beginning of a line.
_LINE_START: Final = re.compile(r"([#+=>-])|([0-9]{1,9})([.)])")
_INDENT: Final = re.compile(r"[ \t]+")
_BACKTICKS: Final = re.compile(r"`+")
FENCE_CHARS_MIN: Final = 3


def literal_line(text: str) -> str:
    """Return one line of literal text as inline Markdown, controls as labels."""
    text = label_controls(text, breaks="label", tabs="label").strip(" ")
    return _escaped(text)


def _escaped(line: str) -> str:
    escaped = _MARKUP.sub(r"\\\g<0>", line)
    start = _LINE_START.match(escaped)
    if start is None:
        return escaped
    if start[1]:
        return "\\" + escaped
    return f"{start[2]}\\{escaped[start.start(3) :]}"


def literal_lines(text: str) -> str:
    """Return literal text as Markdown paragraphs: every line break and indent stays."""
    lines = label_controls(text).strip("\n").split("\n")
    out: list[str] = []
    for line in lines:
        if not line.strip():
            out.append("")
            continue
        indent = _INDENT.match(line)
        blanks = indent[0].replace("\t", "    ") if indent else ""
        words = _escaped(line[indent.end() if indent else 0 :].rstrip())
        # A break that is no end of a paragraph.
        out.append("&nbsp;" * len(blanks) + words)
    return "\n".join(
        f"{line}\\" if line and index + 1 < len(out) and out[index + 1] else line
        for index, line in enumerate(out)
    )


def code_span(text: str) -> str:
    """Return one line of literal text as inline code."""
    text = label_controls(text, breaks="label", tabs="label")
    if not text.strip(" "):
        return literal_line(text)
    mark = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    # One blank on each side is taken away again by whoever reads it.
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{mark}{pad}{text}{pad}{mark}"


def fenced(text: str, language: str = "") -> str:
    """Return code in a fence that is longer than any run of backticks in it."""
    text = label_controls(text).removesuffix("\n")
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    mark = "`" * max(longest + 1, FENCE_CHARS_MIN)
    return (
        f"{mark}{_info(language)}\n{text}\n{mark}" if text else f"{mark}{_info(language)}\n{mark}"
    )


def _info(language: str) -> str:
    """Return a language as the info string of a fence: one word that holds no backtick."""
    words = label_controls(language, breaks="label", tabs="label").split()
    return re.sub(r"[`~\\&<]", "", words[0]) if words else ""
