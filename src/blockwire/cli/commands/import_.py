"""``blockwire import``."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, aclosing
from typing import Any, Final, NamedTuple

import anyio
import click

from blockwire import __version__
from blockwire.archives import (
    ArchiveReader,
    ConversationCompleted,
    ConversationStarted,
)
from blockwire.archives.drafting import History
from blockwire.archives.histories import FileFormat, archive_history, open_history
from blockwire.archives.report import Report
from blockwire.cli.gateways import open_client
from blockwire.cli.historyfiles import HistoryFile, find_files, read_storage
from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.options import READER_OPTIONS, options, take_config
from blockwire.cli.output import note, one_line, write, write_json
from blockwire.cli.progress import report_progress
from blockwire.cli.settings import Config
from blockwire.client import AsyncClient, ImportResult, SystemTiming
from blockwire.errors import BlockwireError
from blockwire.jsontext import Json

_FORMATS: Final = ("auto", "blockwire", "chatgpt", "claude", "codex", "opencode")
_GENERATOR: Final = f"blockwire {__version__}"
_LOST: Final = frozenset(
    {"connection_lost", "gateway_unreachable", "unauthorized", "insufficient_scope"}
)


class _Wish(NamedTuple):
    """How files are to be imported."""

    wanted: str
    dry_run: bool
    makes_copy: bool
    with_branches: bool
    as_json: bool


class _Count:
    """What came of it."""

    def __init__(self) -> None:
        self.new = 0
        self.known = 0
        self.has_failed = False


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--from",
    "wanted",
    type=click.Choice(_FORMATS),
    default="auto",
    show_default=True,
    help="What the files are; auto looks at them.",
)
@click.option("--dry-run", is_flag=True, help="Read and tell, and import nothing.")
@click.option("--copy", "makes_copy", is_flag=True, help="Import again what was imported before.")
@click.option("--no-branches", is_flag=True, help="Leave out branches that were not shown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one conversation a line.")
@options(*READER_OPTIONS)
def command(files: tuple[str, ...], *, no_branches: bool, **arguments: Any) -> int:
    """Take in archives of "blockwire export", and the histories of other programs.

    FILE is a file, a ZIP as ChatGPT and Claude send it, a folder, or - for standard input. Known are
    the data exports of ChatGPT and Claude, the sessions of Claude Code (~/.claude/projects), of the
    Codex CLI (~/.codex/sessions) and of opencode (its storage, or what "opencode export" prints).

    An archive is imported whole or not at all. What was imported before is found again and not
    doubled, so an import that was interrupted is simply repeated. Prints the ids of the new
    conversations; what was not understood is told at the end.
    """
    wish = _Wish(
        arguments.pop("wanted"),
        arguments.pop("dry_run"),
        arguments.pop("makes_copy"),
        not no_branches,
        arguments.pop("as_json"),
    )
    return anyio.run(_import, take_config(arguments), files, wish)


async def _import(config: Config, names: tuple[str, ...], wish: _Wish) -> int:
    count = _Count()
    async with AsyncExitStack() as stack:
        client: AsyncClient | None = None
        for name in names:
            try:
                for file in find_files(name):
                    if client is None and not wish.dry_run:
                        client = await stack.enter_async_context(open_client(config))
                    await _import_file(client, file, wish, count)
            except BlockwireError as error:
                if error.code in _LOST:
                    raise
                count.has_failed = True
                where = f" (at {error.pointer})" if error.pointer else ""
                # What was found behind a name is told with its own.
                named = "" if error.detail.startswith(name) else f"{name}: "
                note(f"{named}{error.detail}{where} [{error.code}]")
    _tell(count, wish)
    return EXIT_FAILED if count.has_failed else 0


def _tell(count: _Count, wish: _Wish) -> None:
    if wish.as_json:
        return
    verb = "would import" if wish.dry_run else "imported"
    known = f"; {count.known} were here already" if count.known else ""
    noun = "conversation" if count.new == 1 else "conversations"
    note(f"{verb} {count.new} {noun}{known}")


async def _import_file(
    client: AsyncClient | None, file: HistoryFile, wish: _Wish, count: _Count
) -> None:
    report = Report()
    if file.open is None:
        assert file.path is not None, "a folder has a path"
        await _import_histories(client, read_storage(file.path, report), wish, count)
    else:
        file_format, pieces = file.detect(wish.wanted)
        if file_format == "blockwire":
            await _import_archive(client, file, pieces, wish, count)
            return
        histories = _histories(file, file_format, pieces, report, with_branches=wish.with_branches)
        await _import_histories(client, histories, wish, count)
    for met in report.notes:
        place = f" (first at {met.first})" if met.first else ""
        note(f"{file.name}: {met.kind.replace('_', ' ')}: {met.what}: {met.count}{place}")
    count.has_failed = count.has_failed or not report.is_whole


# histories --------------------------------------------------------------------------------
def _histories(
    file: HistoryFile,
    file_format: FileFormat,
    pieces: Iterator[bytes],
    report: Report,
    *,
    with_branches: bool,
) -> Iterator[History]:
    reader = open_history(file_format, report, with_branches=with_branches)
    with report_progress(f"reading {file.name}", total=file.size_bytes, unit="bytes") as progress:
        for piece in pieces:
            yield from reader.receive_data(piece)
            progress.advance(len(piece))
        yield from reader.receive_eof()


async def _import_histories(
    client: AsyncClient | None,
    histories: Iterator[History],
    wish: _Wish,
    count: _Count,
) -> None:
    for history in histories:
        if client is None:
            _show(history.conversation, len(history.messages), wish, None)
            count.new += 1
            continue
        archived = archive_history(
            history, created_at=SystemTiming().now_ms(), generator=_GENERATOR
        )
        key = None if wish.makes_copy else archived.key
        result = await client.import_archive(archived.lines, idempotency_key=key)
        _count(result, {str(history.conversation["id"]): history.conversation}, wish, count)


# archives ---------------------------------------------------------------------------------
async def _import_archive(
    client: AsyncClient | None,
    file: HistoryFile,
    pieces: Iterator[bytes],
    wish: _Wish,
    count: _Count,
) -> None:
    key: str | None = None
    heads: dict[str, dict[str, Json]] = {}
    if file.path is not None or client is None:
        # A file is read twice: nothing is sent that would be refused, and it is known again.
        heads, counts, digest = _checked(file, pieces)
        key = None if wish.makes_copy else f"archive_{digest}"
        if client is None:
            for name, head in heads.items():
                _show(head, counts[name], wish, None)
                count.new += 1
            return
        assert file.open is not None, "a folder is no archive"
        pieces = file.open()
    async with aclosing(_sent(file, pieces)) as sent:
        result = await client.import_archive(sent, idempotency_key=key)
    _count(result, heads, wish, count)


async def _sent(file: HistoryFile, pieces: Iterator[bytes]) -> AsyncGenerator[bytes, None]:
    with report_progress(f"sending {file.name}", total=file.size_bytes, unit="bytes") as progress:
        for piece in pieces:
            yield piece
            progress.advance(len(piece))


def _checked(
    file: HistoryFile, pieces: Iterator[bytes]
) -> tuple[dict[str, dict[str, Json]], dict[str, int], str]:
    """Return what the archive holds: conversations, their counts of messages, and its digest.

    Raises:
        ArchiveError: It is not whole.
    """
    heads: dict[str, dict[str, Json]] = {}
    counts: dict[str, int] = {}
    digest = hashlib.sha256()
    name = ""
    reader = ArchiveReader()

    def items() -> Iterator[object]:
        with report_progress(
            f"checking {file.name}", total=file.size_bytes, unit="bytes"
        ) as progress:
            for piece in pieces:
                yield from reader.receive_data(piece)
                progress.advance(len(piece))
            yield from reader.receive_eof()

    for item in items():
        if isinstance(item, ConversationStarted):
            name = str(item.conversation["id"])
            heads[name] = item.conversation
        elif isinstance(item, ConversationCompleted):
            counts[name] = item.counts["message_count"]
            digest.update(item.sha256.encode())
    return heads, counts, digest.hexdigest()


# telling ----------------------------------------------------------------------------------
def _count(
    result: ImportResult, heads: dict[str, dict[str, Json]], wish: _Wish, count: _Count
) -> None:
    for imported in result.conversations:
        count.new += result.is_new
        count.known += not result.is_new
        head = heads.get(imported.source_id, {"id": imported.source_id})
        _show(head, imported.message_count, wish, imported.id, is_new=result.is_new)
        if imported.attachments_missing:
            note(
                f"{imported.id}: attachments that the archive lacks: {imported.attachments_missing}"
            )
    for kind, lines in result.ignored_lines.items():
        note(f"passed over: lines of type {kind}: {lines}")


def _show(
    head: dict[str, Json],
    messages: int,
    wish: _Wish,
    new_id: str | None,
    *,
    is_new: bool = True,
) -> None:
    title = head.get("title")
    if wish.as_json:
        told = {
            "id": new_id,
            "source_id": head["id"],
            "title": title,
            "message_count": messages,
            "is_new": is_new,
        }
        write_json({name: value for name, value in told.items() if value is not None})
        return
    shown = one_line(title) if isinstance(title, str) else ""
    known = "" if is_new else "  (here already)"
    write(f"{new_id or one_line(str(head['id']))}  {messages:5} messages  {shown}{known}".rstrip())
    write("\n")
