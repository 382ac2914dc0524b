"""How text occupies a terminal (clusters, widths, labels for controls, tab stops, rows), and its words.

Spec: docs/spec/text.md, docs/spec/gateway/search.md. The one copy for every renderer, screen and search;
knows no block and makes no escape sequence.
"""

from blockwire.text.clusters import AmbiguousWidth, clusters, cut, width
from blockwire.text.controls import label_controls
from blockwire.text.layout import TAB_STOP_CELLS, WrapMode, expand_tabs, last_break, wrap
from blockwire.text.matching import Snippet, TextWords, cut_snippet, strong_words
from blockwire.text.search_query import (
    QUERY_CHARS_MAX,
    Clause,
    Phrase,
    SearchQuery,
    parse_query,
)

__all__ = [
    "QUERY_CHARS_MAX",
    "TAB_STOP_CELLS",
    "AmbiguousWidth",
    "Clause",
    "Phrase",
    "SearchQuery",
    "Snippet",
    "TextWords",
    "WrapMode",
    "clusters",
    "cut",
    "cut_snippet",
    "expand_tabs",
    "label_controls",
    "last_break",
    "parse_query",
    "strong_words",
    "width",
    "wrap",
]
