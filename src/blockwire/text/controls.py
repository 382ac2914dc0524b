"""Visible labels in place of controls and invisible characters.

Spec: docs/spec/text.md. What is shown, copied and found is the label, so no
escape sequence can be rebuilt by copying, and no hidden text can hide.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

# Line breaks and Tab are layout where rows are made, and controls like all others in places that
# have one row.
LayoutControls: TypeAlias = Literal["keep", "label"]

# docs/spec/text.md: its list of bidi and invisible formatting.
_FORMATTING: Final = r"\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_TAGS: Final = r"\U000e0000-\U000e007f"
_SURROGATES: Final = r"\ud800-\udfff"
# C0 without Tab, LF and CR; DEL and C1.
_CONTROLS: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# The only emoji tag sequences there are: the flag of a subdivision (UTS 51, "Emoji Tag Sequences").
# Tags after any other emoji would be text that nobody sees.
_FLAG: Final = r"\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"

_ALWAYS: Final = rf"[{_CONTROLS}{_FORMATTING}{_SURROGATES}{_TAGS}]"

# (breaks, tabs) -> what is replaced.
_PATTERNS: Final[Mapping[tuple[LayoutControls, LayoutControls], re.Pattern[str]]] = (
    MappingProxyType(
        {
            ("keep", "keep"): re.compile(rf"{_FLAG}|\r\n?|{_ALWAYS}"),
            ("keep", "label"): re.compile(rf"{_FLAG}|\r\n?|\t|{_ALWAYS}"),
            ("label", "keep"): re.compile(rf"{_FLAG}|[\r\n]|{_ALWAYS}"),
            ("label", "label"): re.compile(rf"{_FLAG}|[\r\n\t]|{_ALWAYS}"),
        }
    )
)


def label_controls(
    text: str, *, breaks: LayoutControls = "keep", tabs: LayoutControls = "keep"
) -> str:
    """Return ``text`` with everything that acts without being seen replaced by a label.

    C0 controls and DEL become Control Pictures (``␛``), C1 controls, bidi and invisible formatting
    and tag characters outside a subdivision flag become ``<U+0085>``, lone surrogates U+FFFD.

    Args:
        text: Anything.
        breaks: ``keep`` returns each LF, CRLF and CR as LF; ``label`` makes pictures of them, so
            that the result is one line.
        tabs: ``keep`` returns Tab as it is.
    """
    # All that is replaced is unprintable to Python; most lines end here.
    if text.isprintable():
        return text
    if breaks == "keep":
        return _PATTERNS[breaks, tabs].sub(_label_keeping_breaks, text)
    return _PATTERNS[breaks, tabs].sub(_label, text)


def _label_keeping_breaks(match: re.Match[str]) -> str:
    return "\n" if match[0][0] == "\r" else _label(match)


def _label(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) > 1:
        return found
    scalar = ord(found)
    if scalar < 0x20:
        return chr(0x2400 + scalar)
    if scalar == 0x7F:
        return "\u2421"
    if 0xD800 <= scalar <= 0xDFFF:
        return "\ufffd"
    return f"<U+{scalar:04X}>"
