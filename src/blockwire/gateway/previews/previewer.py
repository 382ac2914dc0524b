"""Previews of attached images: made by a child, a few at a time, and kept in memory for a while.

Spec: docs/spec/gateway/attachments.md, "Previews". Above is the route, which decides who may see the
image; below is ``child``, the program.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

import anyio
from anyio.abc import Process

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.limits import LimitError
from blockwire.gateway.previews import child
from blockwire.ports import AttachmentRow

__all__ = ["PREVIEW_PX_DEFAULT", "PREVIEW_PX_MAX", "PREVIEW_PX_MIN", "Previewer", "has_previews"]

PREVIEW_PX_MIN: Final = 64
PREVIEW_PX_MAX: Final = 1_024
PREVIEW_PX_DEFAULT: Final = 640
"""Width and height of a preview, at most; in pixels."""

CHILDREN_MAX: Final = 2
"""Previews that are made at the same time."""

WAITING_MAX: Final = 128
"""Previews that wait for that; a page with many pictures asks for those that are seen."""

PREVIEW_BYTES_MAX: Final = 2_097_152
"""One preview."""

CACHE_BYTES_MAX: Final = 16_777_216
"""All previews that are kept, refusals included."""

# What a kept refusal, or the row of a kept preview, is counted as.
_ROW_BYTES: Final = 512
_READ_BYTES: Final = 65_536
# What Python needs to find itself and its libraries; nothing of what a gateway is told.
_ENVIRONMENT: Final = ("HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "TMPDIR")
_PROGRAM: Final = (sys.executable, "-P", str(Path(child.__file__)))

_UNKNOWN: Final = -1
_CODES: Final[Mapping[int, str]] = MappingProxyType(
    {child.ENDED_LARGE: "image_too_large", child.ENDED_MISSING: "preview_unavailable"}
)
_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "image_too_large": (
            f"previews are made of images of {child.INPUT_BYTES_MAX} bytes and "
            f"{child.PIXELS_MAX} pixels at most"
        ),
        "not_previewable": "previews are made of whole images, in PNG, JPEG, GIF or WebP",
        "preview_unavailable": "this gateway makes no previews; they need blockwire[previews]",
    }
)

Pieces = Callable[[], AsyncGenerator[bytes, None]]
"""Reads the content of an attachment, from its beginning."""


@cache
def has_previews() -> bool:
    """Return whether previews can be made: the extra is there, and a process can be bounded.

    That of its memory is accepted and ignored, or refused, by other systems than Linux.
    """
    return sys.platform == "linux" and find_spec("PIL") is not None


class Previewer:
    """Makes previews.

    Args:
        program: What makes one, with the media type and the size behind it.
        is_available: Whether it can be started at all.
        wait_s_max: Seconds that one may take.
    """

    def __init__(
        self,
        *,
        program: tuple[str, ...] = _PROGRAM,
        is_available: bool | None = None,
        wait_s_max: float = child.WALL_S_MAX,
    ) -> None:
        self.is_available = has_previews() if is_available is None else is_available
        self._program = program
        self._wait_s_max = wait_s_max
        self._slots = anyio.CapacityLimiter(CHILDREN_MAX)
        self._waiting = 0
        self._kept: OrderedDict[tuple[str, int], bytes | str] = OrderedDict()
        self._kept_bytes = 0

    @property
    def kept_bytes(self) -> int:
        """What is kept, at most ``CACHE_BYTES_MAX``."""
        return self._kept_bytes

    async def preview(self, row: AttachmentRow, size_px: int, pieces: Pieces) -> bytes:
        """Return a small picture of an image.

        Args:
            row: The attachment.
            size_px: Width and height, at most.
            pieces: Its content.

        Raises:
            RemoteProtocolError: ``preview_unavailable``, ``not_previewable``, ``image_too_large``.
            LimitError: ``too_many_previews``.
            StoreError: ``attachment_not_found``: it was deleted meanwhile.
        """
        if not self.is_available:
            raise _refusal("preview_unavailable")
        if row.media_type not in child.FORMATS:
            raise _refusal("not_previewable")
        if row.size_bytes > child.INPUT_BYTES_MAX:
            raise _refusal("image_too_large")
        key = (row.sha256, size_px)
        made = self._find(key)
        if made is None:
            made = await self._make_in_turn(key, row, pieces)
        if isinstance(made, str):
            raise _refusal(made)
        return made

    async def _make_in_turn(
        self, key: tuple[str, int], row: AttachmentRow, pieces: Pieces
    ) -> bytes | str:
        if self._waiting >= WAITING_MAX:
            raise LimitError("too_many_previews", f"{WAITING_MAX} previews wait to be made")
        self._waiting += 1
        try:
            async with self._slots:
                # Whoever was before us may have made it.
                made = self._find(key)
                if made is None:
                    made = await self._make(row, key[1], pieces)
                    self._keep(key, made)
                return made
        finally:
            self._waiting -= 1

    async def _make(self, row: AttachmentRow, size_px: int, pieces: Pieces) -> bytes | str:
        """Return the picture, or the code of its refusal.

        Raises:
            RemoteProtocolError: ``not_previewable``, which is not kept: the machine may be busy.
        """
        picture, status = b"", _UNKNOWN
        # Whoever hangs up while it starts would leave a child behind that nobody waits for.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [*self._program, row.media_type, str(size_px)],
                stderr=subprocess.DEVNULL,
                env=_environment(os.environ),
                # A Ctrl-C in the gateway's terminal is for the gateway.
                start_new_session=True,
            )
        try:
            with anyio.move_on_after(self._wait_s_max) as limit:
                await _feed(process, pieces)
                picture = await _read(process)
                if len(picture) <= PREVIEW_BYTES_MAX:
                    status = await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                with suppress(ProcessLookupError):
                    process.kill()
                await process.aclose()
        if limit.cancelled_caught:
            raise _refusal("not_previewable")
        if status == 0 and picture:
            return picture
        return _CODES.get(status, "not_previewable")

    # kept ---------------------------------------------------------------------------------
    def _find(self, key: tuple[str, int]) -> bytes | str | None:
        made = self._kept.get(key)
        if made is not None:
            self._kept.move_to_end(key)
        return made

    def _keep(self, key: tuple[str, int], made: bytes | str) -> None:
        self._kept[key] = made
        self._kept_bytes += _ROW_BYTES + len(made)
        while self._kept_bytes > CACHE_BYTES_MAX:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= _ROW_BYTES + len(dropped)


async def _feed(process: Process, pieces: Pieces) -> None:
    assert process.stdin is not None, "it was asked for"
    # It may end before it has read everything: how it ended says why.
    with suppress(anyio.BrokenResourceError):
        async with aclosing(pieces()) as content:
            async for piece in content:
                await process.stdin.send(piece)
    with suppress(anyio.BrokenResourceError):
        await process.stdin.aclose()


async def _read(process: Process) -> bytes:
    assert process.stdout is not None, "it was asked for"
    picture = bytearray()
    with suppress(anyio.EndOfStream):
        while len(picture) <= PREVIEW_BYTES_MAX:
            picture += await process.stdout.receive(_READ_BYTES)
    return bytes(picture)


def _environment(outer: Mapping[str, str]) -> dict[str, str]:
    return {name: outer[name] for name in _ENVIRONMENT if name in outer}


def _refusal(code: str) -> RemoteProtocolError:
    return RemoteProtocolError(code, _SENTENCES[code])
