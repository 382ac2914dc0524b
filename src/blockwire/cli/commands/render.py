"""``blockwire render``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final, cast

import click

from blockwire.cli.encoding import TEXT
from blockwire.cli.messagefiles import ConversationFacts, read_messages
from blockwire.cli.options import COLOR_OPTION, WIDTH_OPTION, options
from blockwire.cli.output import note, write, write_utf8
from blockwire.cli.terminals import screen_of
from blockwire.content import Message, View, visible_message
from blockwire.jsontext import Json
from blockwire.render import TerminalLook, transcript_text
from blockwire.render.documents import (
    DOCUMENT_FORMATS,
    Document,
    DocumentFormat,
    open_document,
)

_FORMATS: Final = ("terminal", *DOCUMENT_FORMATS)


class _Transcript:
    """What a terminal shows, in the shape of a document."""

    def __init__(self, look: TerminalLook) -> None:
        self._look = look
        self._gap = ""

    def head(self) -> str:
        return ""

    def message(self, message: Message) -> str:
        gap, self._gap = self._gap, "\n"
        return gap + transcript_text([message], self._look, with_reasoning=True)

    def tail(self) -> str:
        return ""


@click.command()
@click.argument("file", required=False)
@click.option(
    "--format",
    "document_format",
    type=click.Choice(_FORMATS),
    default="terminal",
    show_default=True,
    help="What to make of the messages.",
)
@click.option(
    "--view",
    type=click.Choice(["public", "owner"]),
    default="public",
    show_default=True,
    help="public leaves out private reasoning and system messages; owner shows what the file holds.",
)
@click.option(
    "--title", type=TEXT, metavar="TEXT", help="Title; else the file's, where it has one."
)
@options(WIDTH_OPTION, COLOR_OPTION)
def command(file: str | None, document_format: str, view: View, **arguments: Any) -> None:
    """Print messages as a page, as Markdown, as text, or as a terminal shows them.

    FILE (- for standard input, the default) holds a message, an array or an export of them, or one
    JSON value a line: what "blockwire show --json" prints, or an archive. Lines are printed as they
    are read. No gateway takes part.
    """
    if file is None and sys.stdin.isatty():
        raise click.UsageError("Name a FILE, or pipe messages in.")
    title: str | None = arguments["title"]
    # Pages and Markdown are UTF-8 wherever they are read; the rest is for the terminal at hand.
    put = write_utf8 if document_format in {"html", "markdown"} else write
    private = _Private()
    facts = ConversationFacts(None, None)
    document: Document | None = None
    for item in read_messages(file or "-"):
        if isinstance(item, ConversationFacts):
            facts = item
            continue
        if document is None:
            named = facts._replace(title=facts.title if title is None else title)
            document = _opened(document_format, named, arguments)
            put(document.head())
        shown = visible_message(view, item)
        private.count(item, shown)
        if shown is not None:
            put(document.message(shown))
    assert document is not None, "a file without messages is refused"
    put(document.tail())
    private.tell()


def _opened(
    document_format: str, facts: ConversationFacts, arguments: Mapping[str, Any]
) -> Document:
    if document_format == "terminal":
        screen = screen_of(sys.stdout, flag=arguments["color"], width=arguments["width"])
        return _Transcript(screen.look)
    return open_document(
        cast("DocumentFormat", document_format), title=facts.title, created_at=facts.created_at
    )


class _Private:
    """Counts what a view leaves out, so that nobody looks for it in vain."""

    def __init__(self) -> None:
        self._messages = 0
        self._blocks = 0

    def count(self, message: Message, shown: Message | None) -> None:
        if shown is None:
            self._messages += 1
        else:
            self._blocks += _length(message) - _length(shown)

    def tell(self) -> None:
        counts = [(self._messages, "message"), (self._blocks, "block")]
        words = [f"{count} {word}{'s' if count > 1 else ''}" for count, word in counts if count]
        if words:
            note(f"left out as private: {' and '.join(words)}; --view owner shows them")


def _length(message: Message) -> int:
    return len(cast("list[Json]", message["content"]))
