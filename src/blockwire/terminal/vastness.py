"""Numbers that no finite binary64 holds, taken out of a JSON text.

Spec: docs/spec/terminal/json.md, "Numbers".

A text with such a number is refused, but it is JSON: what names the message is still to be read.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final

__all__ = ["without_vast_numbers"]

# Strings come first: digits in them are none. A token ends where no number goes on.
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[-+.\w]++', re.DOTALL)
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")


def without_vast_numbers(data: bytes) -> bytes:
    """Return ``data`` with ``null`` in place of each number beyond finite binary64.

    What is no JSON stays none. Takes time linear in the length of ``data``.
    """
    return _TOKEN.sub(_replace, data)


def _replace(token: re.Match[bytes]) -> bytes:
    text = token.group()
    return b"null" if _NUMBER.fullmatch(text) and not isfinite(float(text)) else text
