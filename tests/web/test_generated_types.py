"""The committed types in TypeScript are made of the schemas of today, by the generator of today."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from blockwire.cli.schemas import published_schemas
from blockwire.jsontext import encode_json
from tests.web.agreement import WEB

GENERATED: Final = WEB / "core" / "src" / "generated" / "content.ts"
GENERATOR: Final = WEB / "core" / "build" / "generate.mjs"
RENEW: Final = "run: cd web && npm run generate --workspace core"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def named_hash(name: str) -> str:
    found = re.search(rf"^ \* {name}: ([0-9a-f]{{64}})$", source(), re.MULTILINE)
    assert found is not None
    return found[1]


def source() -> str:
    return GENERATED.read_text(encoding="utf-8")


def test_the_types_are_made_of_the_schemas_of_today() -> None:
    texts = [
        name.encode() + b"\n" + encode_json(schema) + b"\n"
        for name, schema in sorted(published_schemas().items())
        if not name.startswith("terminal_")
    ]

    assert named_hash("schemas") == sha256(b"".join(texts)), RENEW


def test_the_types_are_made_by_the_generator_of_today() -> None:
    assert named_hash("generator") == sha256(GENERATOR.read_bytes()), RENEW


def test_nobody_edited_the_types() -> None:
    _header, body = source().split(" */\n\n", 1)

    assert named_hash("types") == sha256(body.encode()), RENEW
