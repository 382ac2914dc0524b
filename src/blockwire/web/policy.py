"""What browsers are told about the page and its files.

Spec: docs/spec/page/security.md. The headers of every answer (``nosniff``, no frames, no referrer,
one's own browsing context) are the gateway's; here is what the page adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = [
    "ASSET_HEADERS", "CONTENT_SECURITY_POLICY", "PAGE_HEADERS", "PERMISSIONS_POLICY",
    "media_type_of",
]  # fmt: skip

_DIRECTIVES: Final = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    # Pictures that were fetched with a token are shown from memory.
    "img-src 'self' blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types blockwire dompurify",
)
CONTENT_SECURITY_POLICY: Final = "; ".join(_DIRECTIVES)
"""Nothing inline, no eval, nobody else's files, and HTML only through the two named policies."""

PERMISSIONS_POLICY: Final = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen",
        "geolocation", "gyroscope", "magnetometer", "microphone", "midi", "payment",
        "picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "serial", "usb",
        "xr-spatial-tracking",
    )
)  # fmt: skip
"""What the page never asks for. Writing to the clipboard is not among it."""

PAGE_HEADERS: Final[tuple[tuple[str, str], ...]] = (
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("permissions-policy", PERMISSIONS_POLICY),
)
"""Of the page; it is asked for anew each time, and revalidated."""

ASSET_HEADERS: Final[tuple[tuple[str, str], ...]] = (
    # A worker runs under the policy that its own script came with.
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    # The name has the hash of the content in it.
    ("cache-control", "public, max-age=31536000, immutable"),
)
"""Of everything that the page loads."""

_MEDIA_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "png": "image/png",
        "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    }
)


def media_type_of(name: str) -> str:
    """Return the media type of a file of the page, by the end of its name."""
    return _MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
