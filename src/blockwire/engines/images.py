"""Pictures that go to a model: of known types only, of a bounded size, and what they are found to be.

Spec: docs/spec/gateway/engines.md, "Pictures".
"""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import Final

import pybase64

from blockwire.content.filetypes import INLINE_TYPES
from blockwire.engines.blocks import attachment_blocks
from blockwire.engines.transcript import Image
from blockwire.errors import BlockwireError
from blockwire.ports import AttachmentRow, EngineFiles, EngineRequest

__all__ = ["IMAGES_BYTES_MAX", "IMAGE_BYTES_MAX", "load_images"]

IMAGE_BYTES_MAX: Final = 5 * 1024 * 1024
"""Bytes of one picture, the least that the providers agree on."""

IMAGES_MAX: Final = 20
"""Pictures of one request, the newest."""

IMAGES_BYTES_MAX: Final = 20 * 1024 * 1024
"""Bytes of all of them; providers refuse requests that are larger than some 30 MB, in base64."""

_ROLES: Final = frozenset({"user"})
_log: Final = logging.getLogger(__name__)


async def load_images(request: EngineRequest) -> dict[str, Image]:
    """Return the pictures of the users' messages by attachment id, the newest ones.

    What is not there, is too large, or is no picture of a type that all providers take is left out;
    the model then reads its name.
    """
    found: dict[str, Image] = {}
    left_bytes = IMAGES_BYTES_MAX
    files = request.files
    if files is None:
        return found
    for block in attachment_blocks(request.messages, _ROLES):
        attachment_id = str(block["attachment_id"])
        if len(found) >= IMAGES_MAX or attachment_id in found:
            continue
        row = await files.find(attachment_id)
        if row is None or row.media_type not in INLINE_TYPES:
            continue
        if row.size_bytes > min(IMAGE_BYTES_MAX, left_bytes):
            continue
        try:
            data = await _load(files, row)
        except BlockwireError as error:
            _log.warning("a picture could not be read: %s", error.code)
            continue
        left_bytes -= len(data)
        found[attachment_id] = Image(row.media_type, pybase64.b64encode(data).decode("ascii"))
    return found


async def _load(files: EngineFiles, row: AttachmentRow) -> bytes:
    async with aclosing(files.read(row)) as pieces:
        return b"".join([data async for data in pieces])
