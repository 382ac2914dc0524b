"""The clusters of the Unicode suites, to be put where text is laid out, selected and drawn."""

from __future__ import annotations

from typing import Final

from blockwire.text import clusters
from tests.suites import suite_json, suite_path

__all__ = ["ALL", "INNER"]


def _all() -> list[str]:
    """Return every cluster of the suites in which there is no control, once."""
    found: dict[str, None] = {}
    for row in suite_json("unicode/grapheme_break_17.0.0.json")["cases"]:
        found |= dict.fromkeys(row["extended_clusters"])
    for name in ("emoji-zwj-sequences-15.0.txt", "emoji-variation-sequences-15.0.txt"):
        for line in suite_path(f"unicode/{name}").read_text(encoding="utf-8").splitlines():
            scalars, is_row, _rest = line.partition("#")[0].partition(";")
            if is_row:
                found["".join(chr(int(scalar, 16)) for scalar in scalars.split())] = None
    return [text for text in found if not any(ord(it) < 32 or 127 <= ord(it) < 160 for it in text)]


ALL: Final = _all()

INNER: Final = [text for text in ALL if list(clusters(f"a{text}b")) == ["a", text, "b"]]
"""Those that join with no letter beside them."""
