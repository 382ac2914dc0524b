"""Files that go with a question.

Spec: docs/reference/cli.md, "ask".
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

import anyio
import click

from blockwire.cli.output import one_line
from blockwire.cli.progress import Progress, report_progress
from blockwire.client import AsyncClient
from blockwire.content import Block
from blockwire.errors import LocalProtocolError

__all__ = ["FILE", "attach_files"]

FILE: Final = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
"""A file that can be read, found out before anything is begun."""

_READ_BYTES: Final = 262_144


async def attach_files(
    client: AsyncClient, conversation_id: str, paths: Sequence[Path]
) -> list[Block]:
    """Upload files and return the blocks that name them.

    Raises:
        ClientError: A file was refused.
        LocalProtocolError: ``file_unreadable``.
    """
    blocks: list[Block] = []
    for path in paths:
        size_bytes = path.stat().st_size
        with report_progress(
            f"uploading {one_line(path.name)}", total=size_bytes, unit="bytes"
        ) as progress:
            row = await client.upload(conversation_id, _pieces(path, progress), name=path.name)
        blocks.append(row.block)
    return blocks


async def _pieces(path: Path, progress: Progress) -> AsyncIterator[bytes]:
    try:
        async with await anyio.open_file(path, "rb") as file:
            while data := await file.read(_READ_BYTES):
                yield data
                progress.advance(len(data))
    except OSError as error:
        detail = f"{path} cannot be read: {error.strerror}"
        raise LocalProtocolError("file_unreadable", detail) from None
