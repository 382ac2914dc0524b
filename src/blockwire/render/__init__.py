"""Renderers: functions of messages and states, never of events.

Spec: docs/spec/rendering/. They derive from blocks alone and nothing they make is written back.
"""

from __future__ import annotations

from blockwire.render.incremental import MarkdownStream
from blockwire.render.looks import block_rows
from blockwire.render.markdown import markdown_rows
from blockwire.render.plain import block_text, message_text, request_text, value_text
from blockwire.render.plainstream import PlainStream, plain_text
from blockwire.render.snippets import snippet_rows
from blockwire.render.spans import (
    Row,
    Span,
    Style,
    TerminalLook,
    clean,
    encode_row,
    row_width,
)
from blockwire.render.transcript import TranscriptStream, message_rows, transcript_text

__all__ = [
    "MarkdownStream",
    "PlainStream",
    "Row",
    "Span",
    "Style",
    "TerminalLook",
    "TranscriptStream",
    "block_rows",
    "block_text",
    "clean",
    "encode_row",
    "markdown_rows",
    "message_rows",
    "message_text",
    "plain_text",
    "request_text",
    "row_width",
    "snippet_rows",
    "transcript_text",
    "value_text",
]
