"""The program that makes one preview: an image on standard input, a small picture on standard output.

Spec: docs/spec/gateway/attachments.md, "Previews". Started by its path, so that it imports nothing
of ours: whatever a hostile image does to the decoder, it does to a process that has bounds, an empty
environment and nothing to tell. How it ended says why there is no picture.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from io import BytesIO
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "CPU_S_MAX", "ENDED_LARGE", "ENDED_MISSING", "ENDED_UNREADABLE", "FORMATS", "INPUT_BYTES_MAX",
    "MEMORY_BYTES_MAX", "PIXELS_MAX", "WALL_S_MAX", "NoPreviewError", "make_preview",
]  # fmt: skip

INPUT_BYTES_MAX: Final = 33_554_432
"""Bytes of an image of which a preview is made."""

PIXELS_MAX: Final = 50_000_000
"""Pixels of such an image, as its header says; more than any telephone takes by itself."""

MEMORY_BYTES_MAX: Final = 1_073_741_824
"""Address space of the process: 50 million pixels of four bytes, a few times over."""

CPU_S_MAX: Final = 10
"""Seconds of computing."""

WALL_S_MAX: Final = 20
"""Seconds after which the process ends by itself, also where nobody is left to end it."""

FILES_MAX: Final = 32
"""Open files: libraries are loaded, and nothing else is read."""

ENDED_UNREADABLE: Final = 3
ENDED_LARGE: Final = 4
ENDED_MISSING: Final = 5

FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {"image/gif": "GIF", "image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"}
)
"""Decoder by the media type that was found; no other one is tried."""

_QUALITY: Final = 80
_METHOD: Final = 4
_ORIENTATION_TAG: Final = 0x0112
# What turns a picture that was taken in this orientation the right way up; PIL.Image.Transpose.
_TURNS: Final[Mapping[int, int]] = MappingProxyType({2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2})
_DEEP_MODES: Final = frozenset({"I", "I;16", "I;16B", "I;16L", "I;16N"})
_ALPHA_MODES: Final = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})


class NoPreviewError(Exception):
    """There is no preview. ``status`` is how the process ends because of it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def make_preview(data: bytes, media_type: str, size_px: int) -> bytes:
    """Return the first picture of an image as WebP (PNG where the library has none).

    At most ``size_px`` wide and high and never larger than it was, the right way up, and without
    anything that was said beside the pixels.

    Raises:
        NoPreviewError: It has too many pixels, or is no such image, or not a whole one.
    """
    try:
        from PIL import Image as images  # noqa: N813, PLC0415 - an extra, after the bounds
        from PIL import features  # noqa: PLC0415 - likewise
    except ImportError:
        raise NoPreviewError(ENDED_MISSING) from None
    # Looked at below: the library itself warns only, and lets twice as many pass.
    images.MAX_IMAGE_PIXELS = None
    out = BytesIO()
    try:
        with images.open(BytesIO(data), formats=[FORMATS[media_type]]) as image:
            _check_size(image)
            small = _drawn_small(image, size_px)
        if features.check("webp"):
            small.save(out, "WEBP", quality=_QUALITY, method=_METHOD)
        else:  # pragma: no cover - no build that we test lacks it
            small.save(out, "PNG")
    except (NoPreviewError, MemoryError):
        raise
    except Exception as error:
        # Decoders raise whatever they stumble over.
        raise NoPreviewError(ENDED_UNREADABLE) from error
    return out.getvalue()


def _check_size(image: Image) -> None:
    if image.width * image.height > PIXELS_MAX:
        raise NoPreviewError(ENDED_LARGE)


def _drawn_small(image: Image, size_px: int) -> Image:
    from PIL.Image import Resampling, Transpose  # noqa: PLC0415 - loaded by now

    turn = _TURNS.get(image.getexif().get(_ORIENTATION_TAG, 1))
    # A JPEG is decoded at a fraction of its size.
    image.draft(None, (2 * size_px, 2 * size_px))
    small = _with_plain_colours(image)
    small.thumbnail((size_px, size_px), Resampling.LANCZOS, reducing_gap=2.0)
    if turn is not None:
        small = small.transpose(Transpose(turn))
    small.info.clear()
    return small


def _with_plain_colours(image: Image) -> Image:
    """Return it in eight bits a colour, with transparency where it has any."""
    if image.mode in _DEEP_MODES:
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
    has_alpha = image.mode in _ALPHA_MODES or "transparency" in image.info
    mode = "RGBA" if has_alpha else "RGB"
    if image.mode == mode:
        # A copy of fifty million pixels would be half of the memory that there is.
        image.load()
        return image
    return image.convert(mode)


def restrict() -> None:
    """Bound what this process may use, for good."""
    import resource  # noqa: PLC0415 - POSIX only, and this module is imported elsewhere, too

    bounds = {
        resource.RLIMIT_AS: MEMORY_BYTES_MAX,
        resource.RLIMIT_CPU: CPU_S_MAX,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: FILES_MAX,
    }
    for kind, bound in bounds.items():
        _, hard = resource.getrlimit(kind)
        least = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (least, least))
    signal.alarm(WALL_S_MAX)


def main() -> int:
    """Return how the process is to end: 0 with a picture on standard output."""
    restrict()
    media_type, size_px = sys.argv[1], int(sys.argv[2])
    try:
        data = sys.stdin.buffer.read(INPUT_BYTES_MAX + 1)
        if len(data) > INPUT_BYTES_MAX:
            return ENDED_LARGE
        picture = make_preview(data, media_type, size_px)
    except NoPreviewError as error:
        return error.status
    except MemoryError:
        return ENDED_LARGE
    sys.stdout.buffer.write(picture)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
