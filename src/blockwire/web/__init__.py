"""The page that `blockwire serve` shows in a browser: its files by name, and what browsers are told.

Spec: docs/spec/page/index.md, docs/spec/page/security.md.

The page is written in ``web/`` and built into ``static``, which is committed with a manifest; here
is what the manifest says and under which policy the page runs. Above is the gateway, which reads
the files and serves them.
"""

from __future__ import annotations

from blockwire.web.manifest import (
    INDEX_NAME,
    MANIFEST_NAME,
    STATIC_FOLDER,
    Asset,
    Manifest,
    read_manifest,
)
from blockwire.web.policy import (
    ASSET_HEADERS,
    CONTENT_SECURITY_POLICY,
    PAGE_HEADERS,
    PERMISSIONS_POLICY,
    media_type_of,
)

__all__ = [
    "ASSET_HEADERS",
    "CONTENT_SECURITY_POLICY",
    "INDEX_NAME",
    "MANIFEST_NAME",
    "PAGE_HEADERS",
    "PERMISSIONS_POLICY",
    "STATIC_FOLDER",
    "Asset",
    "Manifest",
    "media_type_of",
    "read_manifest",
]
