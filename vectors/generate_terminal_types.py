# ruff: noqa: D103, INP001 - a program beside its data, not a package
"""Write the vectors of content types: what data, fragments and replacements come to.

Usage: ``python -m vectors.generate_terminal_types [FOLDER]``. All that is expected is written by
hand in ``terminal_types_inputs``; of blockwire nothing is used.
``vectors/terminal/README.md`` says what each file holds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vectors.terminal_types_inputs import CASES, Case, Record

FOLDER: Final = Path(__file__).parent / "terminal"

FILES: Final = {
    "plain_algebra.jsonl": "text/plain",
    "styled_algebra.jsonl": "text/styled",
    "lines_algebra.jsonl": "text/lines",
}


def text_in(data: Any) -> str:
    """Return the logical text of data of any type."""
    if isinstance(data, str):
        return data
    if data and "spans" in data[0]:
        return "\n".join(text_in(line["spans"]) for line in data)
    return "".join(span["text"] for span in data)


def row_of(type_name: str, case: Case) -> Record:
    row: Record = {
        "name": case.name,
        "requirement": case.requirement,
        "type": type_name,
        "data": case.data,
        "code": case.code,
    }
    if case.code is not None:
        return row
    text, steps = text_in(case.data), []
    for step in case.steps:
        change = (
            {"extend": step.added}
            if step.retain is None
            else {"retain": step.retain, "replacement": step.added}
        )
        if step.code is None:
            text = text[: step.retain] + text_in(step.added)
        steps.append({**change, "code": step.code, "text": text})
    row |= {"steps": steps, "content": case.content, "text": text}
    if case.rows is not None:
        row["lines"] = [{"shown": shown, "copied": copied} for shown, copied in case.rows]
    return row


def rows(type_name: str) -> Iterator[Record]:
    seen: set[str] = set()
    for case in CASES[type_name]:
        if case.name in seen:
            raise SystemExit(f"a name twice: {case.name}")
        seen.add(case.name)
        yield row_of(type_name, case)


def text_of(name: str) -> str:
    return "".join(
        json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n"
        for row in rows(FILES[name])
    )


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_text(text_of(name), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
