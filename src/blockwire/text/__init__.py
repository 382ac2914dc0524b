"""How text occupies a terminal: clusters, widths, labels for controls, tab stops, rows.

Spec: docs/spec/text.md. The one copy for every renderer and screen; knows
no block and makes no escape sequence.
"""

from blockwire.text.clusters import AmbiguousWidth, clusters, cut, width
from blockwire.text.controls import label_controls
from blockwire.text.layout import TAB_STOP_CELLS, WrapMode, expand_tabs, last_break, wrap

__all__ = [
    "TAB_STOP_CELLS",
    "AmbiguousWidth",
    "WrapMode",
    "clusters",
    "cut",
    "expand_tabs",
    "label_controls",
    "last_break",
    "width",
    "wrap",
]
