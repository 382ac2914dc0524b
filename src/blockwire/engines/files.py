"""Attachments as files that a program may read, for as long as it runs.

Spec: docs/spec/gateway/engines.md, "Files". Each engine has a folder of its own in the system's folder for
temporary files, each turn one in it, each attachment another in that. Only this user can read them.
What a process that was killed left there is removed when the next one makes its folder: a lock
says whose is alive.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, cast

import anyio
import anyio.to_thread
import msgspec

from blockwire.content import Block, Message
from blockwire.content.naming import safe_file_name
from blockwire.engines.blocks import attachment_blocks
from blockwire.errors import BlockwireError
from blockwire.jsontext import Json
from blockwire.ports import AttachmentRow, EngineFiles, EngineRequest

if sys.platform != "win32":  # the engine that needs it runs on POSIX alone
    import fcntl

__all__ = ["FILES_BYTES_MAX", "FILES_MAX", "RunFolder"]

FILES_MAX: Final = 100
"""Files of one turn, the newest."""

FILES_BYTES_MAX: Final = 268_435_456
"""Of all files of one turn; what would not fit is left out."""

_PREFIX: Final = "blockwire-files-"
_LOCK: Final = "lock"
_log: Final = logging.getLogger(__name__)


class RunFolder:
    """Makes files of attachments, for the turns of one engine."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._lock = -1

    @asynccontextmanager
    async def files(self, request: EngineRequest) -> AsyncGenerator[EngineRequest, None]:
        """Yield the request with paths in its attachment blocks; inside, the files are there."""
        blocks = attachment_blocks(request.messages)
        if request.files is None or not blocks:
            yield request
            return
        folder = await anyio.to_thread.run_sync(self._make_run_folder)
        try:
            paths = await _write_files(request.files, blocks, folder)
            yield _with_paths(request, paths)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_remove, folder)

    def _make_run_folder(self) -> Path:
        if self._path is None:
            _remove_stale()
            self._path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._lock = os.open(self._path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return Path(tempfile.mkdtemp(dir=self._path))

    def close(self) -> None:
        """Remove everything. Harmless when repeated."""
        if self._path is not None:
            _remove(self._path)
            os.close(self._lock)
            self._path = None


def _remove_stale() -> None:
    """Remove what processes left that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


async def _write_files(files: EngineFiles, blocks: Sequence[Block], folder: Path) -> dict[str, str]:
    """Return the path of each attachment that could be written, by its id."""
    paths: dict[str, str] = {}
    left_bytes = FILES_BYTES_MAX
    for block in blocks:
        attachment_id = str(block["attachment_id"])
        if len(paths) >= FILES_MAX or attachment_id in paths:
            continue
        row = await files.find(attachment_id)
        if row is None or row.size_bytes > left_bytes:
            continue
        path = folder / str(len(paths)) / safe_file_name(row.name)
        try:
            await _write_file(files, row, path)
        except (OSError, BlockwireError) as error:
            # The program reads the name, and can tell.
            _log.warning("an attachment could not be given to an engine: %s", type(error).__name__)
            continue
        paths[attachment_id] = str(path)
        left_bytes -= row.size_bytes
    return paths


async def _write_file(files: EngineFiles, row: AttachmentRow, path: Path) -> None:
    await anyio.to_thread.run_sync(lambda: path.parent.mkdir(mode=0o700, exist_ok=True))
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        async with aclosing(files.read(row)) as pieces:
            async for data in pieces:
                await anyio.to_thread.run_sync(file.write, data)


def _with_paths(request: EngineRequest, paths: Mapping[str, str]) -> EngineRequest:
    def named(block: Block) -> Json:
        path = paths.get(str(block.get("attachment_id"))) if block["type"] == "attachment" else None
        return block if path is None else {**block, "path": path}

    messages: list[Message] = []
    for message in request.messages:
        blocks = cast("list[Block]", message["content"])
        messages.append({**message, "content": [named(block) for block in blocks]})
    return msgspec.structs.replace(request, messages=messages)
