"""Strategies for texts, shared by the tests of this room."""

from typing import Final

from hypothesis import strategies as st

PIECES: Final = (
    "a",
    "word ",
    " ",
    "  ",
    "-",
    "é",
    "e\u0301",
    "…",
    "│",
    "γλώσσα",
    "你",
    "漢字",
    "「",
    "」",
    "，",
    "ー",
    "か\u3099",
    "한국어",
    "\u1112\u1161\u11ab",
    "हिन्दी",
    "क्षि",
    "நி",
    "กำ",
    "\u26a0",
    "\u26a0\ufe0f",
    "\u231a\ufe0e",
    "1\ufe0f\u20e3",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f44d\U0001f3fd",
    "\U0001f1e9\U0001f1ea",
    "\U0001f1e9",
    "\u200d",
    "\ufe0f",
    "\u0301",
    "\u0600",
    "\u3164",
)


def lines() -> st.SearchStrategy[str]:
    """Return lines of all scripts, without controls."""
    pieces = st.sampled_from(PIECES) | st.characters(exclude_categories=["Cc", "Cs"])
    return st.lists(pieces, max_size=14).map("".join)
