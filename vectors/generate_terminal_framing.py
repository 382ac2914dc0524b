# ruff: noqa: D103, INP001 - a program beside its data, not a package
"""Write the vectors of framing: frames right and wrong, and frames amid everything else.

Usage: ``python -m vectors.generate_terminal_framing [FOLDER]``. Streams and what is expected of
them are written by hand in ``terminal_framing_inputs``; nothing here comes from blockwire.
``vectors/terminal/README.md`` says what each file holds.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from vectors.terminal_framing_inputs import (
    FRAGMENT_BYTES,
    LONG_QUERIES,
    TYPED,
    WRITTEN,
    Expected,
    Stream,
    bad_streams,
    long_text,
    mixed_streams,
    one,
    query,
)

Record: TypeAlias = dict[str, Any]

FOLDER: Final = Path(__file__).parent / "terminal"
PROBE_FRAME_ID: Final = 77
SPLITS: Final = 4
LONG: Final = (5, 6)
"""Frame ids of messages that take three frames."""


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def message_of(frame_id: int) -> Any:
    text = long_text(frame_id) if frame_id in LONG else query(frame_id)
    return json.JSONDecoder().decode(text.decode())


def event(it: bytes | int | str) -> Record:
    if isinstance(it, bytes):
        return {"type": "ordinary", "base64": encoded(it)}
    if isinstance(it, int):
        return {"type": "message", "frame_id": it, "message": message_of(it)}
    return {"type": "error", "layer": "framing", "class": it}


def expectation(row: Stream) -> Record:
    return {
        "events": [event(it) for it in row.expected],
        "events_at_end_of_stream": [event(it) for it in row.at_end],
    }


def recovered(row: Stream) -> Expected:
    """Return what the probe's frame brings about behind ``row``."""
    if "unfinished" not in row.at_end:
        return [*row.at_end, PROBE_FRAME_ID]
    if row.name == "the end in a message":
        return ["assembly_abandoned", PROBE_FRAME_ID]
    lone_escape = [b"\x1b"] * row.stream.endswith(b"\x1b")
    return ["interrupted", *lone_escape, PROBE_FRAME_ID]


def framing_rows() -> Iterator[Record]:
    for row in bad_streams():
        yield {
            "name": row.name,
            "layer": "framing",
            "stream_base64": encoded(row.stream),
            "expected": expectation(row),
            "probe_appended": {
                "probe_base64": encoded(one(PROBE_FRAME_ID)),
                "extra_events": [event(it) for it in recovered(row)],
            },
            "normative": True,
            "requirement": row.requirement,
        }
    yield from long_rows()
    for written in WRITTEN:
        yield {
            "name": f"written: {written.name}",
            "layer": "writing",
            "payload_recipe": "unit again and again, in UTF-8, cut at payload_bytes",
            "unit": written.unit,
            "payload_bytes": written.size,
            "frame_id": written.frame_id,
            "frame_sizes": written.frame_sizes,
            "frames_sha256": hashlib.sha256(frames_of(written.unit, written.size, written.frame_id)).hexdigest(),
            "normative": True,
            "requirement": "terminal:write:cuts",
        }  # fmt: skip
    for typed in TYPED:
        yield {
            "name": f"input: {typed.name}",
            "layer": "input",
            "steps": [
                {"at_ms": at_ms, "bytes_base64": encoded(data), "is_answer_outstanding": outstanding,
                 "ordinary_base64": encoded(ordinary)}
                for at_ms, data, outstanding, ordinary in typed.steps
            ],
            "normative": True,
            "requirement": typed.requirement,
        }  # fmt: skip


def long_rows() -> Iterator[Record]:
    for row in LONG_QUERIES:
        text = query(row.frame_id)
        frames = cut(text.ljust(row.size), row.frame_id)
        yield {
            "name": f"long: {row.name}",
            "layer": "long",
            "recipe": "payload = payload_prefix + unit * repeat + tail + payload_suffix, cut into frames",
            "payload_prefix": text.decode(),
            "data_recipe": {"unit": " ", "repeat": row.size - len(text), "tail": ""},
            "payload_suffix": "",
            "frame_id": row.frame_id,
            "stream_sha256": hashlib.sha256(frames).hexdigest(),
            "expected": {"events": [event(it) for it in row.expected], "events_at_end_of_stream": []},
            "normative": True,
            "requirement": row.requirement,
        }  # fmt: skip


def frames_of(unit: str, size: int, frame_id: int) -> bytes:
    return cut((unit.encode() * size)[:size], frame_id)


def cut(payload: bytes, frame_id: int) -> bytes:
    size = len(payload)
    parts = [payload[at : at + FRAGMENT_BYTES] for at in range(0, size, FRAGMENT_BYTES)]
    return b"".join(
        b"\x1b]9002;1;%d;%d;%d;%b\x1b\\"
        % (frame_id, index, index + 1 < len(parts), base64.b64encode(part))
        for index, part in enumerate(parts)
    )


def mixed_rows() -> Iterator[Record]:
    for row in mixed_streams():
        chance = random.Random(row.name)  # noqa: S311 - cuts, no secrets
        places = range(1, len(row.stream))
        every = list(places)
        some = [sorted(chance.sample(places, min(len(places), n + 1))) for n in range(SPLITS)]
        yield {
            "name": row.name,
            "stream_base64": encoded(row.stream),
            "splits": [[], *some, *([every] if len(every) < 1_000 else [])],
            "expected": {
                **expectation(row),
                "ordinary_base64": encoded(b"".join(it for it in row.expected if isinstance(it, bytes))),
                "messages": [message_of(it) for it in row.expected if isinstance(it, int)],
            },
            "normative": True,
            "requirement": row.requirement,
        }  # fmt: skip


FILES: Final[Mapping[str, Callable[[], Iterator[Record]]]] = MappingProxyType(
    {"framing.jsonl": framing_rows, "mixed_stream.jsonl": mixed_rows}
)


def text_of(name: str) -> str:
    rows = list(FILES[name]())
    names = [row["name"] for row in rows]
    if len(set(names)) < len(names):
        raise SystemExit(f"a name twice in {name}: {sorted(names)}")
    return "".join(lines(rows))


def lines(rows: Iterable[Record]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n"


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_text(text_of(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
