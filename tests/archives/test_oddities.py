"""Records of foreign histories that are rare, odd or both, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.archives.drafting import History
from blockwire.archives.histories import FileFormat, open_history
from blockwire.archives.report import Report
from blockwire.jsontext import Json, encode_json


def read(file_format: FileFormat, *values: Json) -> tuple[list[History], Report]:
    report = Report()
    reader = open_history(file_format, report)
    data = b"\n".join(encode_json(value) for value in values)
    return [*reader.receive_data(data), *reader.receive_eof()], report


def blocks(history: History, index: int = -1) -> list[dict[str, Any]]:
    found: Any = history.messages[index]["content"]
    return list(found)


def notes(report: Report) -> set[tuple[str, str]]:
    return {(note.kind, note.what) for note in report.notes}


# ChatGPT -----------------------------------------------------------------------------------
def chat(*messages: Json) -> Json:
    """Return a conversation of these messages, one after the other."""
    mapping: dict[str, Json] = {"r": {"id": "r", "message": None, "parent": None, "children": []}}
    for number, message in enumerate(messages):
        mapping[f"n{number}"] = {
            "message": message,
            "parent": f"n{number - 1}" if number else "r",
            "children": [],
        }
    return {"title": "T", "mapping": mapping, "current_node": f"n{len(messages) - 1}"}


def said(role: str, content: Json, **more: Json) -> Json:
    return {"author": {"role": role}, "content": content, **more}


HIDDEN: dict[str, Json] = {"is_visually_hidden_from_conversation": True}


@pytest.mark.case("V02")
def test_what_was_hidden_from_people_stays_hidden() -> None:
    (history,), _report = read(
        "chatgpt",
        chat(
            said("user", {"content_type": "text", "parts": ["hi"]}),
            said("assistant", {"content_type": "text", "parts": ["secret"]}, metadata=HIDDEN),
            said("assistant", {"content_type": "text", "parts": [""]}, metadata=HIDDEN),
            said("assistant", {"content_type": "odd", "n": 1}, metadata=HIDDEN),
            said("user", {"content_type": "text", "parts": ["sent by the page"]}, metadata=HIDDEN),
        ),
    )

    assert [message["role"] for message in history.messages] == ["user", "assistant", "system"]
    assert [(b["type"], b["visibility"], b["text"]) for b in blocks(history, 1)] == [
        ("reasoning", "private", "secret"),
        ("reasoning", "private", ""),
    ]


def test_custom_instructions_of_older_exports_are_kept_for_their_owner() -> None:
    told: Json = {"about_user_message": "I bake.", "about_model_message": "Be brief.", "n": 1}
    (history,), _report = read(
        "chatgpt",
        chat(
            said(
                "system",
                {"content_type": "text", "parts": [""]},
                metadata={"user_context_message_data": told},
            )
        ),
    )

    assert history.messages[0]["role"] == "system"
    assert blocks(history)[0]["markdown"] == "I bake.\n\nBe brief."
    empty: Json = {"content_type": "user_editable_context", "n": 1}
    (other,), _report = read("chatgpt", chat(said("user", empty)))
    assert blocks(other)[0]["markdown"] == "(context)"


def test_roles_and_contents_that_nobody_knows() -> None:
    (history,), report = read(
        "chatgpt",
        chat(
            said(
                "critic", {"content_type": "text", "parts": ["hm", None, 5, {"asset_pointer": 1}]}
            ),
            said("assistant", {"content_type": "code", "language": "python", "text": "1"}),
            said("assistant", {"content_type": "code", "language": "", "text": "2"}),
            said("assistant", {"content_type": "thoughts", "thoughts": ["x", {"content": "y"}]}),
            said("assistant", {"content_type": "thoughts", "thoughts": 5}),
            said("assistant", {"content_type": "execution_output", "text": "3"}),
            said("assistant", {"content_type": "tether_quote", "url": "u"}),
            said("assistant", {"parts": "none"}),
            said("assistant", {"content_type": "text", "parts": 5, "text": "older"}),
        ),
    )

    assert history.messages[0]["role"] == "system"
    assert [block["type"] for block in blocks(history, 0)] == [
        "prose", "chatgpt_part", "chatgpt_asset",
    ]  # fmt: skip
    kinds = [block["type"] for block in blocks(history)]
    assert kinds == [
        "code", "code", "chatgpt_thought", "reasoning", "tool", "tool", "chatgpt_content", "prose",
    ]  # fmt: skip
    assert [block.get("language") for block in blocks(history)[:2]] == ["python", None]
    assert ("kept", "role critic") in notes(report)


def test_results_of_tools_that_are_pictures() -> None:
    picture: Json = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://1"}
    (history,), _report = read(
        "chatgpt",
        chat(
            said("assistant", {"content_type": "text", "parts": ["draw"]}, recipient="image"),
            said("tool", {"content_type": "multimodal_text", "parts": [picture, "text"]}),
            said("assistant", {"content_type": "odd"}, recipient="odd"),
        ),
    )

    call, asset, other = blocks(history)
    assert (call["tool"], call["input"]) == ("image", "draw")
    assert call["output"]["parts"] == [picture, "text"]
    assert asset["type"] == "chatgpt_image_asset_pointer"
    assert other["input"] == {"content_type": "odd"}


def test_nodes_that_are_none() -> None:
    histories, report = read(
        "chatgpt",
        [
            {"mapping": {"a": 5, "b": {"message": 5, "parent": 7}}, "current_node": "a"},
            chat(),
        ],
    )

    assert histories == []
    assert notes(report) == {
        ("left_out", "nodes that are no objects"),
        ("left_out", "empty conversations"),
        ("repaired", "current branches that are not there"),
    }


# Claude ------------------------------------------------------------------------------------
def test_messages_of_claude_that_are_odd() -> None:
    (history,), report = read(
        "claude",
        {
            "uuid": 5,
            "chat_messages": [
                7,
                {"uuid": "a", "sender": "narrator", "text": "once"},
                {
                    "uuid": "a",
                    "sender": "human",
                    "text": "twice",
                    "attachments": [{"file_name": "f"}, 5],
                },
                {"sender": "assistant", "content": [5], "files": [{"file_uuid": "x"}]},
            ],
        },
    )

    assert [message["role"] for message in history.messages] == ["system", "user", "assistant"]
    assert blocks(history, 1)[1]["fallback_text"] == "(file f, which the export does not hold)"
    assert blocks(history, 1)[2]["type"] == "claude_attachment"
    assert {
        ("left_out", "messages that are no objects"),
        ("repaired", "messages with the id of another"),
        ("kept", "sender narrator"),
    } <= notes(report)
    assert read("claude", [5, {"chat_messages": 5}])[1].notes[0].count == 2
    silent: Json = {"sender": "assistant", "content": [{"type": "thinking", "thinking": ""}]}
    assert read("claude", [{"chat_messages": [silent]}])[0] == []


# Claude Code -------------------------------------------------------------------------------
def test_lines_of_claude_code_that_are_odd() -> None:
    histories, report = read(
        "claude_code",
        {"type": "user", "uuid": "a", "message": {"content": "hi"}},
        {"type": "user", "uuid": "a", "message": {"content": "again"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "yes"}]}},
        {"type": "user", "message": {"content": []}, "isSidechain": True},
        {"type": "user", "isSidechain": True, "uuid": "s", "message": {"content": "aside"}},
        {"type": "system", "message": 5},
    )

    assert [one.conversation["id"] for one in histories] == [
        "claude_code",
        "claude_code (subagent 2)",
    ]
    assert [message["role"] for message in histories[0].messages] == [
        "user", "user", "assistant", "system",
    ]  # fmt: skip
    assert {
        ("repaired", "lines with the id of another"),
        ("left_out", "empty conversations"),
        ("kept", "system"),
    } <= notes(report)
    assert read("claude_code", {"type": "summary"})[0] == []


# Codex -------------------------------------------------------------------------------------
def item(**payload: Json) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {**payload}}


def event(**payload: Json) -> Json:
    return {"type": "event_msg", "payload": {**payload}}


def test_items_of_codex_that_are_odd() -> None:
    (history,), report = read(
        "codex",
        {"type": "turn_context", "payload": {"model": 5}},
        event(type="token_count", info=None),
        event(type="token_count", info={"last_token_usage": {"input_tokens": 5}}),
        item(type="message", role="user", content="plain"),
        item(type="message", role="assistant", content=[{"type": "odd"}, 5]),
        item(type="reasoning", summary=["a", 5, {"text": "b"}], content=None),
        item(type="function_call", call_id="c"),
        item(type="function_call_output", call_id="c", output={"ok": True}, meta=1),
        item(type="function_call_output", call_id="d", output=[{"type": "input_image",
             "image_url": "data:image/png;base64,iVBORw0KGgo="}]),
        item(type="odd"),
        item(type=""),
        event(type="error"),
        event(type=""),
        {"type": "session_meta", "payload": {"base_instructions": {"text": "Go."}}},
    )  # fmt: skip

    assert [message["role"] for message in history.messages] == ["user", "assistant", "system"]
    found = blocks(history, 1)
    assert [block["type"] for block in found] == [
        "codex_odd", "codex_part", "reasoning", "tool", "tool", "codex_odd", "codex_item", "error",
        "codex_event",
    ]  # fmt: skip
    assert found[2]["text"] == "a\n\nb"
    assert found[3]["output"] == {"ok": True}
    assert len(found[4]["attachments"]) == 1
    assert ("repaired", "results without a call") in notes(report)
    assert read("codex", 5)[1].notes[0].what == "lines that are no objects"
    assert read("codex", {"type": "event_msg", "payload": {"type": "user_message"}})[0] == []


# opencode ----------------------------------------------------------------------------------
def test_sessions_of_opencode_that_are_odd() -> None:
    (history,), report = read(
        "opencode",
        [
            5,
            {"info": {}, "messages": []},
            {
                "info": {"id": "s", "parentID": "p"},
                "messages": [
                    5,
                    {"info": {"role": "judge"}, "parts": [5, {"type": "odd"}, {}]},
                    {"info": {"role": "assistant"}, "parts": [{"type": "tool", "state": {"status": "gone"}}]},
                    {"info": {"role": "user"}, "parts": 5},
                    {"info": {"role": "assistant", "error": {"x": 1}}},
                ],
            },
        ],
    )  # fmt: skip

    assert history.conversation["tags"] == ["subagent"]
    assert [message["role"] for message in history.messages] == ["system", "assistant", "assistant"]
    assert [block["type"] for block in blocks(history, 0)] == [
        "opencode_part", "opencode_odd", "opencode_part",
    ]  # fmt: skip
    assert blocks(history, 1)[0]["status"] == "cancelled"
    assert blocks(history, 2)[0]["message"] == "The program failed."
    assert {
        ("unreadable", "sessions without messages"),
        ("left_out", "messages that are no objects"),
        ("repaired", "tools of status gone"),
        ("kept", "role judge"),
    } <= notes(report)
