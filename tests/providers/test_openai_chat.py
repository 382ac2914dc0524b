"""Chat Completions as OpenAI and compatible servers send them."""

from typing import Any

import pytest

from tests.providers.compare import Decoded, decode, outcome_of
from tests.providers.wire import call, chat, sse


def read(*objects: Any, done: bool = True) -> Decoded:
    return decode("openai-chat", [sse(*objects, done=done)])


def shape(decoded: Decoded) -> list[tuple[str, str]]:
    """Return the type of each block with its text, code or name."""
    names = {"prose": "markdown", "reasoning": "text", "tool": "tool"}
    return [(b["type"], b[names.get(b["type"], "code")]) for b in decoded.blocks]


@pytest.mark.requirement("providers:reasoning:private")
@pytest.mark.parametrize("member", ["reasoning_content", "reasoning", "thinking", "reasoning_text"])
@pytest.mark.case("V04")
def test_reasoning_is_private_whatever_the_server_calls_it(member: str) -> None:
    decoded = read(chat({member: "Hm."}), chat({"content": "Yes."}), chat(finish="stop"))

    assert shape(decoded) == [("reasoning", "Hm."), ("prose", "Yes.")]
    assert decoded.blocks[0]["visibility"] == "private"


def test_a_server_that_names_its_reasoning_twice_is_read_once() -> None:
    decoded = read(chat({"reasoning": "Hm.", "reasoning_content": "Hm."}), chat(finish="stop"))

    assert shape(decoded)[0] == ("reasoning", "Hm.")


def test_signed_and_encrypted_reasoning_details_are_kept_and_their_text_is_not_said_twice() -> None:
    signed = {"type": "reasoning.text", "text": "Hm.", "signature": "s"}
    encrypted = {"type": "reasoning.encrypted", "data": "gAAA", "indexInList": 1}
    plain = {"type": "reasoning.text", "text": "Hm."}
    decoded = read(
        chat({"reasoning": "Hm.", "reasoning_details": [plain, signed]}),
        chat({"reasoning": None, "reasoning_details": [encrypted]}),
        chat({"content": "Yes."}),
        chat({"reasoning_details": [signed]}, "stop"),
    )

    assert shape(decoded) == [("reasoning", "Hm."), ("prose", "Yes."), ("reasoning", "")]
    assert decoded.blocks[2]["provider_data"]["reasoning_details"] == [signed]
    # A key that breaks our rule is kept as text: it goes back as it came.
    assert decoded.blocks[0]["provider_data"] == {
        "provider": "openai-chat",
        "reasoning_details": [
            signed,
            '{"type":"reasoning.encrypted","data":"gAAA","indexInList":1}',
        ],
    }


def test_content_may_come_as_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    decoded = read(
        chat({"content": [thinking]}),
        chat({"content": [{"type": "text", "text": "Yes."}, {"type": "reference"}]}),
        chat({"content": [{"type": "thinking", "thinking": "More."}]}, "stop"),
    )

    assert shape(decoded) == [("reasoning", "Hm."), ("prose", "Yes."), ("reasoning", "More.")]


def test_tags_are_text_where_the_server_tells_reasoning_apart() -> None:
    decoded = read(
        chat({"content": "<"}), chat({"reasoning": "Hm."}), chat({"content": "think>"}, "stop")
    )

    assert shape(decoded) == [("prose", "<"), ("reasoning", "Hm."), ("prose", "think>")]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("<think>a</think>b", [("reasoning", "a"), ("prose", "b")]),
        ("<think></think>\n\nb", [("prose", "b")]),
        (" \n<think>a</think>", [("reasoning", "a"), ("notice", "empty_answer")]),
        ("<think>a</thin", [("reasoning", "a</thin"), ("notice", "empty_answer")]),
        ("<thin", [("prose", "<thin")]),
        ("<b>x", [("prose", "<b>x")]),
        (" " * 200, [("prose", " " * 200)]),
        (" " * 200 + "<think>", [("prose", " " * 200 + "<think>")]),
        ("x <think>y</think>", [("prose", "x <think>y</think>")]),
    ],
)
def test_think_tags_count_at_the_beginning_only(text: str, blocks: list[tuple[str, str]]) -> None:
    whole = read(chat({"content": text}), chat(finish="stop"))
    by_character = read(*(chat({"content": c}) for c in text), chat(finish="stop"))

    assert shape(whole) == shape(by_character) == blocks


def test_half_a_tag_is_not_shown_when_the_answer_is_cut() -> None:
    decoded = read(chat({"content": "<thi"}), done=False)

    assert shape(decoded) == [("error", "stream_truncated")]


CALLS: list[tuple[str, list[dict[str, Any]], list[tuple[str, Any]]]] = [
    ("no index, whole calls",
     [call(None, '{"a":1}', id="x", name="f"), call(None, '{"a":2}', id="y", name="f")],
     [("x", {"a": 1}), ("y", {"a": 2})]),
    ("no index, fragments",
     [call(None, '{"a"', id="x", name="f"), call(None, ":1}")],
     [("x", {"a": 1})]),
    ("no index and no id, whole calls",
     [call(None, '{"a":1}', name="f"), call(None, '{"a":2}', name="f")],
     [("", {"a": 1}), ("", {"a": 2})]),
    ("one index for all, no ids",
     [call(0, '{"a":1}', name="f"), call(0, '{"a":2}', name="f")],
     [("", {"a": 1}), ("", {"a": 2})]),
    ("one index for all, fragments that name their id",
     [call(0, '{"a"', id="x", name="f"), call(0, '{"a"', id="y", name="f"),
      call(0, ":1}", id="x"), call(0, ":2}", id="y")],
     [("x", {"a": 1}), ("y", {"a": 2})]),
    ("the name again in every piece",
     [call(0, '{"a"', id="x", name="f"), call(0, ":1}", id="x", name="f")],
     [("x", {"a": 1})]),
    ("the id comes later",
     [call(0, '{"a"', name="f"), call(0, ":1}", id="x")],
     [("x", {"a": 1})]),
    ("the name comes later",
     [call(0, '{"a"', id="x"), call(0, ":1}", name="f")],
     [("x", {"a": 1})]),
    ("arguments as an object",
     [call(0, {"a": 1.0}, id="x", name="f")],
     [("x", {"a": 1.0})]),
    ("null and blank arguments",
     [call(0, None, id="x", name="f"), call(1, " ", id="y", name="f"),
      call(2, "null", id="z", name="f")],
     [("x", {}), ("y", {}), ("z", {})]),
    ("pieces without anything in them",
     [call(0, '{"a":1}', id="x", name="f"), {"tool_calls": [{}, {"index": 5}, None]}],
     [("x", {"a": 1})]),
]  # fmt: skip


@pytest.mark.requirement("providers:calls:identity")
@pytest.mark.parametrize(("how", "deltas", "calls"), CALLS, ids=[row[0] for row in CALLS])
@pytest.mark.case("O04")
def test_calls_are_told_apart(
    how: str, deltas: list[dict[str, Any]], calls: list[tuple[str, Any]]
) -> None:
    decoded = read(*map(chat, deltas), chat(finish="tool_calls"))

    assert outcome_of(decoded) == "tool_calls", how
    assert [
        (block.get("provider_data", {}).get("call_id", ""), block["input"])
        for block in decoded.of_type("tool")
    ] == calls


BAD_ARGUMENTS = ['{"a":1}{"a":2}', '{"a":', '"text"', "[1]", "5", '{"a":1,"a":2}', "{" * 99, "nul"]


@pytest.mark.requirement("providers:calls:whole")
@pytest.mark.parametrize("arguments", [*BAD_ARGUMENTS, '{"a":' * 58 + "1" + "}" * 58])
def test_arguments_that_are_not_one_whole_object_are_never_run(arguments: str) -> None:
    decoded = read(chat(call(0, arguments, id="x", name="f")), chat(finish="tool_calls"))

    assert decoded.ended.status == "failed"
    assert decoded.ended.error_code == "invalid_tool_call"
    (block,) = decoded.of_type("tool")
    assert block["status"] == "failed"
    assert block["input_json"] == arguments
    assert "input" not in block


def test_a_bad_call_does_not_take_the_good_one_with_it() -> None:
    decoded = read(
        chat(call(0, "{}", id="x", name="f")),
        chat(call(1, "{", id="y", name="f")),
        chat(finish="stop"),
    )

    assert outcome_of(decoded) == "tool_calls"
    assert [block["status"] for block in decoded.of_type("tool")] == ["pending", "failed"]


def test_a_call_that_changes_its_name_or_has_none_is_never_run() -> None:
    decoded = read(
        chat(call(0, "{", id="x", name="read")),
        chat(call(0, "}", id="x", name="delete")),
        chat(call(1, "{}", id="y")),
        chat(finish="tool_calls"),
    )

    assert [(b["tool"], b["status"]) for b in decoded.of_type("tool")] == [
        ("read", "failed"),
        ("unnamed", "failed"),
    ]
    assert decoded.ended.error_code == "invalid_tool_call"


def test_the_id_of_a_call_that_failed_already_changes_nothing() -> None:
    decoded = read(
        chat(call(0, "{", name="read")),
        chat(call(0, "}", name="delete")),
        chat(call(0, "}", id="x")),
        chat(finish="tool_calls"),
    )

    assert [block["status"] for block in decoded.of_type("tool")] == ["failed"]


@pytest.mark.requirement("providers:names:clean")
def test_names_hold_no_controls_and_have_a_bound() -> None:
    decoded = read(
        chat(call(0, "{}", id="x", name="a\x1b[2J\n" + "b" * 300)),
        chat(finish="tool_calls", model="m\x00"),
    )

    (block,) = decoded.of_type("tool")
    assert block["tool"] == "a\ufffd[2J\ufffd" + "b" * 250
    assert decoded.decoder.model == "m\ufffd"


def test_keys_are_converted_and_the_exact_source_is_kept() -> None:
    source = '{"filePath": "a", "n": 1.50}'
    decoded = read(chat(call(0, source, id="x", name="f")), chat(finish="tool_calls"))

    (block,) = decoded.of_type("tool")
    assert block["input"] == {"file_path": "a", "n": 1.5}
    assert block["input_json"] == source


def test_asking_for_a_call_that_never_comes_is_a_failure() -> None:
    decoded = read(chat({"content": "Calling."}, "tool_calls"))

    assert decoded.ended.error_code == "invalid_tool_call"


@pytest.mark.requirement("providers:ends:told")
@pytest.mark.parametrize(
    ("reason", "status", "finish_reason", "code"),
    [
        ("stop", "completed", "stop", None),
        ("eos", "completed", "stop", None),
        ("length", "completed", "length", "answer_truncated"),
        ("content_filter", "failed", "content_filter", "content_filter"),
        ("refusal", "failed", "refusal", "refusal"),
        ("error", "failed", None, "provider_error"),
        ("insufficient_system_resource", "failed", None, "provider_overloaded"),
        ("moon_phase", "completed", "unknown", "unknown_finish_reason"),
    ],
)
def test_every_reason_to_stop_is_told(
    reason: str, status: str, finish_reason: str | None, code: str | None
) -> None:
    decoded = read(chat({"content": "Some."}), chat(finish=reason), done=False)

    assert (decoded.ended.status, decoded.ended.finish_reason) == (status, finish_reason)
    assert [block["code"] for block in decoded.of_type("error", "notice")] == (
        [code] if code else []
    )


def test_a_refusal_is_said_and_told() -> None:
    decoded = read(
        chat({"content": None, "refusal": ""}),
        chat({"refusal": "I can't "}),
        chat({"refusal": "help."}),
        chat(finish="stop"),
    )

    assert shape(decoded) == [("prose", "I can't help."), ("notice", "refusal")]
    assert outcome_of(decoded) == "refused"


def test_only_the_first_choice_counts() -> None:
    chunk = chat({"content": "One"}, "stop")
    chunk["choices"].insert(0, {"index": 1, "delta": {"content": "Two"}})

    assert shape(read(chunk)) == [("prose", "One")]


def test_what_keeps_the_connection_alive_is_no_part_of_the_answer() -> None:
    body = b": hi\n\ndata:\n\ndata: null\n\ndata: []\n\n" + sse(chat({"content": "x"}, "stop"))

    assert shape(decode("openai-chat", [body])) == [("prose", "x")]


def test_an_empty_answer_does_not_look_finished() -> None:
    decoded = read(chat({"content": ""}, "stop"))

    assert shape(decoded) == [("notice", "empty_answer")]


def test_a_body_that_does_not_stream_is_read_too() -> None:
    body = b'{"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]}'

    assert shape(decode("openai-chat", [body[:9], body[9:]])) == [("prose", "Hi.")]
    assert shape(decode("openai-chat", [b'{"error": {"code": "x_y"}}'])) == [("error", "x_y")]


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "Gone.", "code": "e_1"}},
        {"object": "error", "message": "Gone.", "code": "e_1"},
        {"type": "error", "message": "Gone.", "code": "e_1"},
    ],
)
def test_errors_have_many_places(chunk: dict[str, Any]) -> None:
    decoded = read(chat({"content": "So"}), chunk, chat({"content": " far"}, "stop"))

    assert shape(decoded) == [("prose", "So"), ("error", "e_1")]


def test_an_unnamed_error_event_is_an_error() -> None:
    decoded = decode("openai-chat", [b'event: error\ndata: {"message": "Gone."}\n\n'])

    assert decoded.of_type("error")[0]["message"] == "Gone."


def test_usage_is_found_where_servers_put_it() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": True, "prompt_tokens_details": None}
    chunk = chat({"content": "x"}, "stop")
    chunk["choices"][0]["usage"] = usage
    decoded = read(chunk, {"choices": [], "x_groq": {"usage": {"completion_tokens": 2}}})

    assert decoded.ended.usage == {"input_tokens": 5, "output_tokens": 2}
    assert decoded.decoder.usage == decoded.ended.usage
    assert decoded.decoder.sequence_number is None


def test_half_a_character_in_an_escape_costs_one_character() -> None:
    body = rb'data: {"choices": [{"delta": {"content": "a\ud83d \ud83d\ude00 \\ud83d"}}]}'

    decoded = decode("openai-chat", [body + b"\n\ndata: [DONE]\n\n"])

    assert shape(decoded) == [("prose", "a\ufffd 😀 \\ud83d")]


def test_citations_are_kept_with_their_text_and_pictures_are_named() -> None:
    citation = {"type": "url_citation", "url": "https://example.org/"}
    decoded = read(
        chat({"annotations": [citation]}),
        chat({"content": "Yes.", "annotations": [citation]}),
        chat({"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]}),
        chat(finish="stop"),
    )

    assert shape(decoded) == [("prose", "Yes."), ("notice", "content_not_supported")]
    # One comes before the text that it belongs to.
    assert decoded.blocks[0]["provider_data"]["annotations"] == [citation, citation]


def test_citations_without_a_text_have_a_bound() -> None:
    decoded = read(*[chat({"annotations": [{}] * 500})] * 9)

    assert shape(decoded) == [("error", "answer_too_large")]


def test_an_error_in_the_choice_and_beside_it_is_one_error() -> None:
    chunk = chat({}, "error", error={"code": "e_1"})
    chunk["choices"][0]["error"] = {"code": "e_2"}

    assert shape(read(chunk)) == [("error", "e_2")]


def test_long_reasoning_with_unsigned_details_is_no_list_of_citations() -> None:
    detail = {"type": "reasoning.text", "text": "x", "signature": None, "data": None}
    decoded = read(*[chat({"reasoning": "x", "reasoning_details": [detail]})] * 5000)

    assert shape(decoded)[0] == ("reasoning", "x" * 5000)
    assert (
        "provider_data" not in decoded.blocks[0]
        or "reasoning_details" not in (decoded.blocks[0]["provider_data"])
    )


def test_a_name_that_changes_after_the_arguments_began_fails_the_call() -> None:
    decoded = read(
        chat(call(0, "{", id="x", name="read")),
        chat(call(0, "}", id="x", name="_all")),
        chat(finish="tool_calls"),
    )

    assert [(b["tool"], b["status"]) for b in decoded.of_type("tool")] == [("read", "failed")]
