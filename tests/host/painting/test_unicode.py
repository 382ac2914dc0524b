"""Every cluster of the Unicode suites, painted: what stands behind it stands in its own column."""

from __future__ import annotations

import pytest

from blockwire.host.painter import Frame, Painter
from blockwire.text import AmbiguousWidth, label_controls, width
from tests.host.painting.outer import Outer, row
from tests.text import suite_clusters

COLUMNS, ROWS = 20, 20


@pytest.mark.requirement("host:drawing:shown")
@pytest.mark.parametrize("ambiguous_width", [1, 2])
def test_every_cluster_leaves_its_neighbours_where_they_are(
    ambiguous_width: AmbiguousWidth,
) -> None:
    outer = Outer(COLUMNS, ROWS)
    painter = Painter(COLUMNS, ROWS, ambiguous_width=ambiguous_width)
    texts = [it for it in suite_clusters.INNER if width(it) and label_controls(it) == it]

    for start in range(0, len(texts), ROWS // 2):
        # Half of the rows move up, and the others are new: moved rows are moved and not written.
        shown = texts[start : start + ROWS]
        rows = [row(f"{it}|{it}a", f"{it}b") for it in shown]
        frame = Frame((*rows, *[row("")] * (ROWS - len(rows))))

        outer.feed(painter.paint(frame))

        for number, text in enumerate(shown):
            # pyte takes some clusters apart, and what it makes of them is no concern of ours.
            cells = width(text, ambiguous_width=ambiguous_width)
            line = outer.screen.buffer[number]
            places = (cells, 2 * cells + 1, 3 * cells + 2)
            assert [line[place].data for place in places] == ["|", "a", "b"], ascii(text)
            assert all(line[place].data == " " for place in range(places[-1] + 1, COLUMNS))
