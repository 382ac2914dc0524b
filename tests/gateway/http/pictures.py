"""Images for tests of previews, made by hand or by the library."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image

__all__ = ["encoded", "opened", "png_of_size", "two_halves"]


def encoded(image: Image.Image, kind: str, **more: Any) -> bytes:
    """Return the image as a file."""
    out = BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    """Return the decoded picture of a file."""
    image = Image.open(BytesIO(data))
    image.load()
    return image


def two_halves(
    width: int, height: int, mode: str = "RGB", left: Any = "red", right: Any = "blue"
) -> Image.Image:
    """Return a picture whose left half is not its right half."""
    image = Image.new(mode, (width, height), left)
    image.paste(right, (width // 2, 0, width, height))
    return image


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_of_size(width: int, height: int, *, rows: int | None = None) -> bytes:
    """Return a grey PNG; its rows are zeros, packed a thousand times smaller than they are.

    Args:
        width: In pixels.
        height: In pixels.
        rows: How many are really there; all without it.
    """
    packer = zlib.compressobj(9)
    row = bytes(width + 1)
    packed = b"".join(packer.compress(row) for _ in range(height if rows is None else rows))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", head)
        + _chunk(b"IDAT", packed + packer.flush())
        + _chunk(b"IEND", b"")
    )
