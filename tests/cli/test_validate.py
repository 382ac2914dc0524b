"""What ``blockwire validate`` accepts and refuses beyond single documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from blockwire.cli.main import cli
from blockwire.jsontext import Json, encode_json

STARTED: dict[str, Json] = {
    "type": "turn.started",
    "turn_id": "t",
    "role": "assistant",
    "created_at": 1,
}
ENDED: dict[str, Json] = {"type": "turn.completed", "turn_id": "t", "status": "completed"}


def numbered(event: dict[str, Json], seq: int, prev_seq: int) -> dict[str, Json]:
    return {**event, "conversation_id": "c", "seq": seq, "prev_seq": prev_seq, "ts": 1}


@pytest.mark.parametrize(
    ("events", "problems"),
    [
        ([STARTED, ENDED], ""),
        ([ENDED], "line 1: turn_not_found: no such turn\n"),
        ([numbered(STARTED, 1, 0), numbered(ENDED, 3, 1)], ""),
        # What was read twice is known already.
        ([numbered(STARTED, 1, 0), numbered(STARTED, 1, 0), numbered(ENDED, 2, 1)], ""),
        ([numbered(STARTED, 1, 0), numbered(ENDED, 3, 2)],
         "line 2: sequence_gap: event 3 follows 2, the cursor is at 1\n"),
        # One mistake is told once, and what follows it is looked at for itself.
        ([numbered(STARTED, 2, 1), numbered(ENDED, 3, 2), numbered(ENDED, 4, 3)],
         "line 1: sequence_gap: event 2 follows 1, the cursor is at 0\nline 3: turn_terminal: the turn is over and never changes\n"),
    ],
)  # fmt: skip
def test_events_are_applied_by_their_numbers(
    tmp_path: Path, events: list[dict[str, Json]], problems: str
) -> None:
    file = tmp_path / "events.ndjson"
    file.write_bytes(b"\n".join(encode_json(event) for event in events))

    result = CliRunner().invoke(cli, ["validate", "events", str(file)], standalone_mode=False)

    assert result.return_value == (1 if problems else 0)
    assert (result.stdout, result.stderr) == (("", problems) if problems else ("valid\n", ""))
