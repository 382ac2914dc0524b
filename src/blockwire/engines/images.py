"""Pictures that go to a model: of known types only, of a bounded size, and what they say they are.

Spec: docs/spec/gateway/engines.md, "Pictures".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

import anyio
import pybase64

from blockwire.content import Block, Message
from blockwire.engines.transcript import Image

__all__ = ["IMAGE_BYTES_MAX", "load_images"]

IMAGE_BYTES_MAX: Final = 5 * 1024 * 1024
"""Bytes of one picture, the least that the providers agree on."""

IMAGES_MAX: Final = 20
"""Pictures of one request, the newest."""

# Media type -> how such a file begins. All providers take these four.
SIGNATURES: Final[Mapping[str, tuple[bytes, ...]]] = MappingProxyType(
    {
        "image/png": (b"\x89PNG\r\n\x1a\n",),
        "image/jpeg": (b"\xff\xd8\xff",),
        "image/gif": (b"GIF87a", b"GIF89a"),
        "image/webp": (b"RIFF",),
    }
)


async def load_images(messages: Sequence[Message]) -> dict[str, Image]:
    """Return the pictures of the users' messages by attachment id, the newest ones.

    What cannot be read, is too large, or is not what its type says is left out; the model then
    reads its name.
    """
    found: dict[str, Image] = {}
    for block in reversed([block for message in messages for block in _attachments(message)]):
        attachment_id = str(block["attachment_id"])
        if len(found) < IMAGES_MAX and attachment_id not in found:
            image = await _load(str(block["media_type"]), str(block["path"]))
            if image is not None:
                found[attachment_id] = image
    return found


def _attachments(message: Message) -> list[Block]:
    blocks = cast("list[Block]", message["content"]) if message["role"] == "user" else []
    return [
        block
        for block in blocks
        if block["type"] == "attachment"
        and block["media_type"] in SIGNATURES
        and isinstance(block.get("path"), str)
    ]


async def _load(media_type: str, path: str) -> Image | None:
    file = anyio.Path(path)
    try:
        if not await file.is_file() or (await file.stat()).st_size > IMAGE_BYTES_MAX:
            return None
        data = await file.read_bytes()
    except (OSError, ValueError):
        return None
    if not data.startswith(SIGNATURES[media_type]):
        return None
    return Image(media_type, pybase64.b64encode(data).decode("ascii"))
