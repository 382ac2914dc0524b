"""``blockwire export``."""

from __future__ import annotations

import codecs
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import anyio
import click

from blockwire import __version__
from blockwire.archives import (
    LINE_BYTES_MAX,
    ArchiveJoiner,
    ArchiveReader,
    ArchiveWriter,
    ConversationStarted,
)
from blockwire.cli.encoding import ID, TEXT
from blockwire.cli.gateways import open_client
from blockwire.cli.newfiles import check_new, new_file
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note, write_bytes
from blockwire.cli.progress import Progress, report_progress
from blockwire.cli.settings import Config
from blockwire.client import AsyncClient, Conversation, ExportFormat, SystemTiming
from blockwire.content import View
from blockwire.content.naming import safe_file_name
from blockwire.errors import LocalProtocolError
from blockwire.text import label_controls

_ENDINGS: Final[dict[str, ExportFormat]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".txt": "text",
    ".json": "json",
    ".jsonl": "jsonl",
}
_SUFFIXES: Final[dict[ExportFormat, str]] = {
    "markdown": "md", "html": "html", "text": "txt", "json": "json", "jsonl": "jsonl",
}  # fmt: skip
_DOCUMENTS: Final = frozenset({"markdown", "html", "text"})
_TITLE_CHARS_MAX: Final = 80


class _Wish(NamedTuple):
    """What is to be exported, and how."""

    conversation_id: str | None
    export_format: ExportFormat
    view: View | None
    target: Path | None
    force: bool


@click.command()
@click.argument("conversation", required=False, type=ID)
@click.option("--all", "is_all", is_flag=True, help="Every conversation.")
@click.option(
    "--format",
    "wanted",
    type=click.Choice([*_SUFFIXES]),
    help="Else what the ending of -o says, else markdown; with --all jsonl, the archive.",
)
@click.option(
    "-o",
    "--output",
    type=TEXT,
    metavar="FILE",
    help="Where it goes (- is standard output, the default); with --all and a format other than "
    "jsonl a folder, in which each conversation gets a file.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
@click.option(
    "--reasoning", is_flag=True, help="Private reasoning and system messages, too, in documents."
)
@click.option("--public", is_flag=True, help="Leave them out of json and jsonl, too.")
@options(*READER_OPTIONS)
def command(
    conversation: str | None,
    *,
    is_all: bool,
    wanted: ExportFormat | None,
    output: str | None,
    **arguments: Any,
) -> None:
    """Write CONVERSATION to a file: as a document, as JSON, or as an archive.

    The archive (jsonl) holds everything, attachments included, and "blockwire import" makes the
    conversation again from it, here or elsewhere. Documents (markdown, html, text) show what may
    be shown to others; --reasoning adds the rest.
    """
    if (conversation is None) is not is_all:
        raise click.UsageError("Name a CONVERSATION, or give --all.")
    if arguments["reasoning"] and arguments["public"]:
        raise click.UsageError("--reasoning and --public contradict each other; give one.")
    target = None if output in {None, "-"} else Path(output)
    guessed = None if target is None else _ENDINGS.get(target.suffix.lower())
    if target is not None and target.suffix and not (wanted or guessed or is_all):
        # Markdown under the name of something else opens in the wrong program, or in none.
        known = ", ".join(_ENDINGS)
        raise click.UsageError(f"{target.suffix} is no known ending ({known}); or give --format.")
    export_format = wanted or guessed or ("jsonl" if is_all else "markdown")
    is_public = arguments.pop("public") or (
        export_format in _DOCUMENTS and not arguments["reasoning"]
    )
    del arguments["reasoning"]
    wish = _Wish(
        conversation, export_format, "public" if is_public else None, target,
        arguments.pop("force"),
    )  # fmt: skip
    if is_all and export_format != "jsonl" and target is None:
        raise click.UsageError(f"--all as {export_format} needs a folder: -o FOLDER.")
    anyio.run(_export, take_config(arguments), wish)


async def _export(config: Config, wish: _Wish) -> None:
    if wish.target is not None and (wish.conversation_id or wish.export_format == "jsonl"):
        # Before a gateway is started for nothing.
        check_new(wish.target, force=wish.force)
    async with open_client(config, makes_store=False) as client:
        if wish.conversation_id is not None:
            await _export_one(client, wish, wish.conversation_id)
        elif wish.export_format == "jsonl":
            await _export_archive(client, wish)
        else:
            await _export_folder(client, wish)


async def _export_one(client: AsyncClient, wish: _Wish, conversation_id: str) -> None:
    pieces = client.export(conversation_id, wish.export_format, view=wish.view)
    with _sink(wish) as put, report_progress("exporting", unit="bytes") as progress:
        async with aclosing(_checked(pieces, wish)) as checked:
            async for piece in checked:
                put(piece)
                progress.advance(len(piece))
    if wish.target is not None:
        note(f"exported {conversation_id} to {wish.target} ({progress.done} bytes)")


async def _export_archive(client: AsyncClient, wish: _Wish) -> None:
    """Put the archives of all conversations into one."""
    writer = ArchiveWriter()
    joiner = ArchiveJoiner(writer, line_bytes_max=LINE_BYTES_MAX)
    count = 0
    with _sink(wish) as put, _counting() as progress:
        put(
            writer.start(
                created_at=SystemTiming().now_ms(),
                generator=f"blockwire {__version__}",
                view=wish.view or "owner",
            )
        )
        async with aclosing(client.list_conversations()) as conversations:
            async for conversation in conversations:
                joiner.start_part()
                pieces = client.export(conversation.id, "jsonl", view=wish.view)
                async with aclosing(_checked(pieces, wish)) as checked:
                    async for piece in checked:
                        for line in joiner.receive_data(piece):
                            put(line)
                joiner.end_part()
                count += 1
                progress.advance()
        put(writer.end())
    if wish.target is not None:
        note(f"exported {count} conversations to {wish.target}")


async def _export_folder(client: AsyncClient, wish: _Wish) -> None:
    folder = cast("Path", wish.target)
    _make_folder(folder)
    taken: set[str] = set()
    with _counting() as progress:
        async with aclosing(client.list_conversations()) as conversations:
            async for conversation in conversations:
                name = _free_name(conversation, _SUFFIXES[wish.export_format], taken)
                pieces = client.export(conversation.id, wish.export_format, view=wish.view)
                with new_file(folder / name, force=wish.force) as put:
                    async with aclosing(pieces):
                        async for piece in pieces:
                            put(piece)
                progress.advance()
    note(f"exported {len(taken)} conversations to {folder}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        detail = f"the folder {folder} cannot be made: {error.strerror}"
        raise LocalProtocolError("file_unwritable", detail) from None


def _free_name(conversation: Conversation, suffix: str, taken: set[str]) -> str:
    """Return a name that no other conversation has, wherever capitals do not count."""
    title = (conversation.title or "").replace("/", "-").replace("\\", "-")
    stem = title[:_TITLE_CHARS_MAX].strip(". ") or conversation.id
    name = safe_file_name(f"{stem}.{suffix}")
    if name.casefold() in taken:
        name = safe_file_name(f"{stem} {conversation.id}.{suffix}")
    taken.add(name.casefold())
    return name


async def _checked(pieces: AsyncGenerator[bytes, None], wish: _Wish) -> AsyncGenerator[bytes, None]:
    """Yield the pieces of an export; an archive is proven to be whole, and what it lacks is told."""
    reader = ArchiveReader() if wish.export_format == "jsonl" else None
    async with aclosing(pieces):
        async for piece in pieces:
            if reader is not None:
                for item in reader.receive_data(piece):
                    if isinstance(item, ConversationStarted):
                        _tell_unfinished(item)
            yield piece
    if reader is not None:
        for _item in reader.receive_eof():
            pass


def _tell_unfinished(item: ConversationStarted) -> None:
    turns = item.conversation.get("unfinished_turn_ids")
    if turns:
        note(f"{item.conversation['id']}: an answer is not finished, and is left out")


@contextmanager
def _sink(wish: _Wish) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes the bytes."""
    with ExitStack() as stack:
        if wish.target is not None:
            yield stack.enter_context(new_file(wish.target, force=wish.force))
        elif sys.stdout.isatty():
            yield _Screen().put
        else:
            yield write_bytes


class _Screen:
    """Shows a file on a terminal: nothing in it can act there."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def put(self, data: bytes) -> None:
        write_bytes(label_controls(self._decode(data)).encode())


@contextmanager
def _counting() -> Iterator[Progress]:
    with report_progress("exporting", noun="conversations") as progress:
        yield progress
