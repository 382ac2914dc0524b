"""The three shapes that content data can have.

Spec: docs/spec/terminal/content-types.md, "Shapes".
"""

from __future__ import annotations

from typing import Final

from blockwire.terminal.content import Data, FragmentShape, Line, Span

TEXT: Final = "text"
SPANS: Final = "spans"
LINES: Final = "lines"


def has_shape(data: Data, shape: FragmentShape) -> bool:
    """Tell whether ``data``, all of one kind, has this shape; ``()`` is spans and lines at once."""
    if isinstance(data, str):
        return shape == TEXT
    if shape == TEXT:
        return False
    return not data or isinstance(data[0], Span if shape == SPANS else Line)
