# ruff: noqa: D103, INP001 - a program beside its data, not a package
"""Write the vectors of the codec of terminal blocks: messages as frames, and what is no message.

Usage: ``python -m vectors.generate_terminal_codec [FOLDER]``. All that is expected is written by
hand in ``terminal_codec_inputs``; of blockwire only the framing is used.
``vectors/terminal/README.md`` says what each file holds.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from blockwire.terminal.framing import encode_frames
from vectors.terminal_codec_inputs import (
    FROM_TERMINAL,
    TO_APPLICATION,
    TO_TERMINAL,
    Record,
    compact,
    content,
    identity_of,
    invalid,
    message,
    valid,
)

FOLDER: Final = Path(__file__).parent / "terminal"

INVALID_FRAME_ID: Final = 9
PROBE_FRAME_ID: Final = 77
PROBE: Final = message("capability.query", request_id="probe")


def valid_rows() -> Iterator[Record]:
    for frame_id, row in enumerate(valid(), start=1):
        payload = compact(row.message) if row.text is None else row.text
        frames = encode_frames(payload, frame_id)
        yield {
            "name": row.name,
            "direction": TO_APPLICATION if row.message["kind"] in FROM_TERMINAL else TO_TERMINAL,
            "source": "compact" if row.text is None else "alternative-spelling",
            "frame_id": frame_id,
            "frame_count": frames.count(b"\x1b]"),
            "payload_bytes": len(payload),
            "message": row.message,
            "frames_base64": base64.b64encode(frames).decode(),
            "normative": True,
            "requirement": row.requirement,
        }


def expectation(code: str, identity: Record | None) -> Record:
    event: Record = {"type": "error", "layer": "message", "class": code}
    if identity:
        event["identity"] = identity
    return {
        "layer": "message",
        "expected": {"events": [event], "events_at_end_of_stream": [], "messages_decoded": 0},
        "identity_exposed": identity is not None,
        **({"identity": identity} if identity else {}),
        "probe_appended": {
            "decodes_probe": True,
            "extra_events": [{"type": "message", "frame_id": PROBE_FRAME_ID, "message": PROBE}],
        },
        "normative": True,
    }


def invalid_rows() -> Iterator[Record]:
    for row in invalid():
        stream = encode_frames(row.text, INVALID_FRAME_ID)
        yield {
            "name": row.name,
            "stream_base64": base64.b64encode(stream).decode(),
            **expectation(row.code, row.identity),
            "requirement": row.requirement,
        }


# recipes --------------------------------------------------------------------------------------
MESSAGE_BYTES: Final = 1_048_576
VALID_RECIPE: Final = (
    "payload = payload_prefix + unit * repeat + tail + payload_suffix (UTF-8), cut into frames"
)
INVALID_RECIPE: Final = (
    "payload = payload_prefix + unit * repeat + tail * tail_repeat + payload_suffix (UTF-8), "
    f"cut into frames of id {INVALID_FRAME_ID}"
)


def large_rows() -> Iterator[Record]:
    whole = content("text/plain", "@")
    prefix, _, suffix = compact(whole).decode().partition("@")
    around = len(prefix) + len(suffix)
    for number, (name, unit, payload_bytes) in enumerate(
        (("as long as a message can be, ASCII", "t", MESSAGE_BYTES),
         ("as long as a message can be, four bytes a character", "\U0001f375", MESSAGE_BYTES),
         ("341 full frames", "\u8336", 341 * 3_072)), start=1,
    ):  # fmt: skip
        repeat, rest = divmod(payload_bytes - around, len(unit.encode()))
        tail = "." * rest
        payload = (prefix + unit * repeat + tail + suffix).encode()
        frames = encode_frames(payload, number)
        bare = content("text/plain", None)
        yield {
            "name": name,
            "direction": TO_TERMINAL,
            "source": "compact",
            "frame_id": number,
            "frame_count": frames.count(b"\x1b]"),
            "payload_bytes": len(payload),
            "normative": True,
            "message": bare,
            "data_recipe": {
                "unit": unit,
                "repeat": repeat,
                "tail": tail,
                "scalar_length": repeat + rest,
            },
            "payload_prefix": prefix,
            "payload_suffix": suffix,
            "payload_sha256": hashlib.sha256(payload).hexdigest(),
            "frames_total_bytes": len(frames),
            "frames_sha256": hashlib.sha256(frames).hexdigest(),
            "recipe": VALID_RECIPE,
            "requirement": "terminal:message:data",
        }


def large_invalid_rows() -> Iterator[Record]:
    plain, unread = content("text/plain", "@"), content("image/none", "@")
    plain_parts = compact(plain).decode().split("@")
    unread_parts = compact(unread).decode().split('"@"')
    for name, parts, unit, repeat, tail, tail_repeat, code, identity, requirement in (
        ("100,000 arrays in each other", unread_parts, "[", 100_000, "]", 100_000,
         "nesting_too_deep", None, "terminal:json:depth"),
        ("a lone surrogate behind a million characters", plain_parts, "t", 1_000_000, "\\ud800", 1,
         "invalid_unicode", None, "terminal:json:unicode"),
        ("an integer of a million digits", unread_parts, "9", 1_000_000, "", 0,
         "number_out_of_range", identity_of(unread), "terminal:json:vast-numbers"),
    ):  # fmt: skip
        payload = (parts[0] + unit * repeat + tail * tail_repeat + parts[1]).encode()
        stream = encode_frames(payload, INVALID_FRAME_ID)
        yield {
            "name": name,
            "payload_prefix": parts[0],
            "data_recipe": {
                "unit": unit,
                "repeat": repeat,
                "tail": tail,
                "tail_repeat": tail_repeat,
            },
            "payload_suffix": parts[1],
            "stream_bytes": len(stream),
            "stream_sha256": hashlib.sha256(stream).hexdigest(),
            "recipe": INVALID_RECIPE,
            **expectation(code, identity),
            "requirement": requirement,
        }


FILES: Final = {
    "codec_valid.jsonl": valid_rows,
    "codec_invalid.jsonl": invalid_rows,
    "codec_valid_large.jsonl": large_rows,
    "codec_invalid_large.jsonl": large_invalid_rows,
}


def lines(rows: Iterable[Record]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n"


def text_of(name: str) -> str:
    return "".join(lines(_distinct(FILES[name]())))


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_text(text_of(name), encoding="utf-8", newline="\n")


def _distinct(rows: Iterable[Record]) -> Iterator[Record]:
    """Yield rows; a name is given once, so that a failure can be found by it."""
    seen: set[Any] = set()
    for row in rows:
        if row["name"] in seen:
            raise SystemExit(f"a name twice: {row['name']}")
        seen.add(row["name"])
        yield row


if __name__ == "__main__":
    main(sys.argv[1:])
