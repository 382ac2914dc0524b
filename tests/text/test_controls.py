"""Labels: what acts without being seen is seen, and nothing else changes."""

import unicodedata
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.text import label_controls

ENGLAND: Final = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

LABELS: Final[list[tuple[str, str]]] = [
    ("plain", "plain"),
    ("\x00\x07\x08\x0b\x0c\x1b\x1f", "␀␇␈␋␌␛␟"),
    ("\x7f", "␡"),
    ("\x80\x85\x9b\x9f", "<U+0080><U+0085><U+009B><U+009F>"),
    ("a\x1b]0;x\x07b", "a␛]0;x␇b"),
    ("a\nb\r\nc\rd\n\re", "a\nb\nc\nd\n\ne"),
    ("a\tb", "a\tb"),
    ("\u202a\u202e\u2066\u2069", "<U+202A><U+202E><U+2066><U+2069>"),
    ("\u200e\u200f\u061c\u200b", "<U+200E><U+200F><U+061C><U+200B>"),
    ("\u2060\u2064\u00ad\ufeff", "<U+2060><U+2064><U+00AD><U+FEFF>"),
    ("\u2028\u2029", "<U+2028><U+2029>"),
    ("\ud800x\udfff", "\ufffdx\ufffd"),
    # A subdivision flag is seen; the same tags after something else are hidden text.
    (ENGLAND, ENGLAND),
    (ENGLAND + "\U000e0041", ENGLAND + "<U+E0041>"),
    (ENGLAND[:-1], "\U0001f3f4<U+E0067><U+E0062><U+E0065><U+E006E><U+E0067>"),
    ("\U0001f600" + ENGLAND[1:3] + "\U000e007f", "\U0001f600<U+E0067><U+E0062><U+E007F>"),
    ("\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f3f4<U+E0067><U+E0062><U+E007F>"),
    ("\U0001f3f4" + "\U000e0061" * 7 + "\U000e007f", "\U0001f3f4" + "<U+E0061>" * 7 + "<U+E007F>"),
    ("\U0001f3f4" + "\U000e0041" * 3 + "\U000e007f", "\U0001f3f4" + "<U+E0041>" * 3 + "<U+E007F>"),
    ("a\U000e0001", "a<U+E0001>"),
    # Joiners and selectors belong to scripts and emoji.
    ("\u200c\u200d\ufe0f\ufe0e", "\u200c\u200d\ufe0f\ufe0e"),
    ("\u2065\U000e0080", "\u2065\U000e0080"),
]

# breaks, tabs, what "a\r\n\r\tb\n" becomes
LAYOUT: Final[list[tuple[str, str, str]]] = [
    ("keep", "keep", "a\n\n\tb\n"),
    ("keep", "label", "a\n\n␉b\n"),
    ("label", "keep", "a␍␊␍\tb␊"),
    ("label", "label", "a␍␊␍␉b␊"),
]


@pytest.mark.parametrize(("text", "labelled"), LABELS, ids=ascii)
def test_labels(text: str, labelled: str) -> None:
    assert label_controls(text) == labelled


@pytest.mark.parametrize(("breaks", "tabs", "labelled"), LAYOUT)
def test_breaks_and_tabs_are_kept_or_labelled(breaks: str, tabs: str, labelled: str) -> None:
    text = "a\r\n\r\tb\n"
    assert label_controls(text, breaks=breaks, tabs=tabs) == labelled  # type: ignore[arg-type]


@pytest.mark.requirement("text:controls:all")
def test_every_control_of_unicode_is_labelled() -> None:
    for scalar in range(0x110000):
        if unicodedata.category(chr(scalar)) in {"Cc", "Cs", "Zl", "Zp"}:
            labelled = label_controls(chr(scalar), breaks="label", tabs="label")
            assert labelled.isprintable(), hex(scalar)


@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\r\n\t\u202e\U0001f3f4\U000e0067")))
@example("\ud83d\ude00")
@pytest.mark.requirement("text:controls:labelled")
def test_nothing_that_acts_is_left_and_labelling_twice_changes_nothing(text: str) -> None:
    labelled = label_controls(text)
    assert label_controls(labelled) == labelled
    labelled.encode()
    controls = {char for char in labelled if unicodedata.category(char) == "Cc"}
    assert controls <= {"\n", "\t"}
    one_line = label_controls(text, breaks="label", tabs="label")
    assert not any(unicodedata.category(char) == "Cc" for char in one_line)
