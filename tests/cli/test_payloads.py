"""Nothing that an agent says acts on a terminal: the public payloads through whole programs.

One gateway, one turn: an outside producer posts every payload in every place, and ``ask``, ``watch``
and ``show`` print it to terminals and pipes.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import pytest

from tests.suites import suite_path
from tests.support.payloads import CASES, lines_of
from tests.support.programs import Gateway, Terminal, call, command, decoded, environment, run

pytestmark = pytest.mark.timeout(120)

COLUMNS: Final = 200


def _oracle() -> Any:
    spec = importlib.util.spec_from_file_location(
        "check_terminal", suite_path("tools/check_terminal.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE: Final = _oracle()


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What each program printed of all payloads."""
    folder = tmp_path_factory.mktemp("payloads")
    env = environment(folder)
    found: dict[str, bytes] = {}
    with Gateway(env, "--engine", "external") as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        conversation_id: str = made["id"]
        ask = command("ask", "-c", conversation_id, "--reasoning", "hello")
        watch = command("watch", conversation_id, "--reasoning", "--until-idle")
        with Terminal(ask, env=env, columns=COLUMNS) as asking:
            # The question is printed once the turn is there.
            asking.read(lambda: b"hello" in asking.output)
            with Terminal(watch, env=env, columns=COLUMNS) as watching:
                watching.read(lambda: b"hello" in watching.output)
                base = f"/v1/conversations/{conversation_id}"
                turn_id = call(gateway.url, base)["running_turn_id"]
                acks = call(
                    gateway.url,
                    f"{base}/turns/{turn_id}/events",
                    method="POST",
                    body=lines_of(turn_id),
                )
                assert "error" not in acks[-1], acks[-1]
                assert watching.read_to_end() == 0
                found["watch"] = watching.output
            assert asking.read_to_end() == 0
            found["ask"] = asking.output
        show = command("show", conversation_id, "--reasoning")
        with Terminal(show, env=env, columns=COLUMNS) as showing:
            assert showing.read_to_end() == 0
            found["show"] = showing.output
        piped = run("show", conversation_id, "--reasoning", env=env)
        assert piped.returncode == 0
        found["show in a pipe"] = piped.stdout
    return found


def parts_of(output: bytes) -> list[str]:
    """Return what was printed for each case."""
    text = output.decode().replace("\r\n", "\n")
    parts = re.split(r"CASE\d{4}\.", text)[1:]
    assert len(parts) == len(CASES)
    return parts


@pytest.mark.parametrize("program", ["ask", "watch", "show", "show in a pipe"])
@pytest.mark.case("T01")
def test_no_payload_acts_on_a_terminal_and_none_hides_text(
    outputs: dict[str, bytes], program: str
) -> None:
    whole, _visible = ORACLE.scan(outputs[program].replace(b"\r\n", b"\n"))
    problems = [finding for finding in whole if not finding[0].startswith("warn:")]
    for case, part in zip(CASES, parts_of(outputs[program]), strict=True):
        # The oracle calls a link in Markdown what we draw of one; all else must be silent.
        findings = ORACLE.check_case(case, part)
        problems += [(case["id"], *finding) for finding in findings]

    assert problems == []


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("author", "\x1b]0;me: ready\x07build"),
        ("model", "\x1b]0;me: ready\x07build"),
    ],
)
@pytest.mark.case("T13")
def test_a_name_with_controls_is_refused_at_the_door(
    tmp_path: Path, member: str, value: str
) -> None:
    with Gateway(environment(tmp_path), "--engine", "external") as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        path = f"/v1/conversations/{made['id']}/messages"
        message = {"role": "assistant", "content": "hello", member: value}

        with pytest.raises(HTTPError) as caught:
            call(gateway.url, path, method="POST", body=message)

        error = decoded(caught.value.read())["error"]
        assert error["code"].startswith("invalid_"), error
        assert member in error["pointer"]
        assert call(gateway.url, f"{path}")["items"] == []


@pytest.mark.case("T13")
def test_tool_and_file_names_with_controls_are_refused_and_output_keeps_them(
    tmp_path: Path,
) -> None:
    value = "\x1b]0;me: ready\x07build"
    with Gateway(environment(tmp_path), "--engine", "external") as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        path = f"/v1/conversations/{made['id']}/messages"
        tool = {"id": "b1", "type": "tool", "tool": "t", "status": "completed", "output": value}
        file = {"id": "b1", "type": "attachment", "attachment_id": "a", "media_type": "a/b"}
        for block in ({**tool, "tool": value}, {**file, "name": value}):
            message = {"role": "assistant", "content": [block]}
            with pytest.raises(HTTPError) as caught:
                call(gateway.url, path, method="POST", body=message)
            assert "content" in decoded(caught.value.read())["error"]["pointer"]

        kept = call(gateway.url, path, method="POST", body={"role": "assistant", "content": [tool]})

        assert kept["content"][0]["output"] == value
