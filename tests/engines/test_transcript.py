"""What a provider is told of a conversation, and what never leaves."""

from __future__ import annotations

from typing import Any, cast

import pytest

from blockwire.engines.bodies import BODIES
from blockwire.engines.options import OPTIONS, HttpApi
from blockwire.engines.transcript import Image, Said, Step, Thought, read_transcript
from blockwire.errors import EngineError
from tests.engines.tools import assistant, request, user


def prose(text: str, block_id: str = "b1", **members: Any) -> dict[str, Any]:
    return {"id": block_id, "type": "prose", "markdown": text, **members}


def reasoning(text: str, **data: Any) -> dict[str, Any]:
    block = {"id": "r1", "type": "reasoning", "text": text, "visibility": "private"}
    return {**block, "provider_data": data} if data else block


def tool(block_id: str = "t1", **members: Any) -> dict[str, Any]:
    return {
        "id": block_id,
        "type": "tool",
        "tool": "look",
        "status": "completed",
        "input": {"path": "a"},
        "output": "found",
        **members,
    }


def steps(*messages: dict[str, Any], api: str = "openai-chat", **settings: Any) -> list[Step]:
    return list(read_transcript(request(messages=list(messages)), api=api, **settings).steps)


def test_instructions_come_from_the_request_and_from_messages() -> None:
    messages = [
        {**user("be kind", "m1"), "role": "system"},
        {**user("be brief", "m2"), "role": "developer"},
    ]

    transcript = read_transcript(request(messages=messages, system="You are."), api="anthropic")

    assert transcript.system == "You are.\n\nbe kind\n\nbe brief"
    assert transcript.steps == []


USER_BLOCKS: list[tuple[dict[str, Any], list[str]]] = [
    (prose("Hi"), ["Hi"]),
    (prose(" \n"), []),
    ({"id": "b", "type": "code", "text": "x = `1`", "language": "py"}, ["```py\nx = `1`\n```"]),
    ({"id": "b", "type": "code", "text": "```\n"}, ["````\n```\n\n````"]),
    ({"id": "b", "type": "speech", "text": "spoken"}, ["spoken"]),
    (
        {"id": "b", "type": "attachment", "attachment_id": "a", "name": "n", "media_type": "t/x"},
        ["[attachment: n (t/x)]"],
    ),
    ({"id": "b", "type": "error", "code": "x", "message": "m"}, []),
    ({"id": "b", "type": "notice", "code": "x", "message": "m"}, []),
    ({"id": "b", "type": "poll", "fallback_text": "a poll"}, ["a poll"]),
    ({"id": "b", "type": "poll"}, []),
    (reasoning("hidden"), []),
]


@pytest.mark.parametrize(("block", "texts"), USER_BLOCKS)
def test_blocks_of_a_question_become_text(block: dict[str, Any], texts: list[str]) -> None:
    told = steps({**user("x"), "content": [block]})

    assert [part.text for step in told for part in step.parts if isinstance(part, Said)] == texts


@pytest.mark.requirement("engines:transcript:reasoning")
@pytest.mark.parametrize("api", list(BODIES))
@pytest.mark.case("V04")
def test_reasoning_is_never_told_as_something_that_was_said(api: HttpApi) -> None:
    """V04: what one provider thought was sent to another as the assistant's own words."""
    answer = assistant(reasoning("SECRET THOUGHT"), prose("answer"))
    other = assistant(
        reasoning("SECRET THOUGHT", provider="somebody-else", signature="s"),
        prose("answer"),
        turn_id="turn_x",
    )
    transcript = read_transcript(request(messages=[user("q"), answer, other]), api=api)

    body = BODIES[api](transcript, "m", {})

    assert "SECRET THOUGHT" not in str(body)
    assert "answer" in str(body)


@pytest.mark.requirement("engines:transcript:provider-data")
def test_signed_reasoning_goes_back_to_its_own_provider_only() -> None:
    block = reasoning("hm", provider="anthropic", signature="sig")

    (own,) = steps(assistant(block, prose("x")), api="anthropic")
    assert own.parts[0] == Thought("hm", {"provider": "anthropic", "signature": "sig"})
    (other,) = steps(assistant(block, prose("x")), api="gemini")
    assert [type(part) for part in other.parts] == [Said]


@pytest.mark.requirement("engines:transcript:provider-data")
@pytest.mark.parametrize(
    ("of_message", "asked", "is_sent"),
    [
        ("a.example", "a.example", True),
        ("a.example", "b.example", False),
        (None, "b.example", True),
    ],
)
def test_the_same_api_elsewhere_is_another_provider(
    of_message: str | None, asked: str, is_sent: bool
) -> None:
    members = {} if of_message is None else {"provider": of_message}
    block = reasoning("hm", provider="openai-chat", reasoning_detail_1={"data": "d"})

    told = steps(assistant(block, prose("x"), **members), provider=asked)

    assert any(isinstance(part, Thought) for part in told[0].parts) is is_sent


def test_an_assistants_speech_is_not_said_twice() -> None:
    spoken = {"id": "s", "type": "speech", "text": "hello"}

    assert steps(assistant(prose("hello"), spoken)) == [Step("assistant", [Said("hello")])]


def test_what_follows_a_call_is_a_step_of_its_own() -> None:
    told = steps(
        assistant(
            prose("a"), tool("t1"), tool("t2"), prose("b", "b2"), tool("t3"), prose("c", "b3")
        )
    )

    assert [[type(part).__name__ for part in step.parts] for step in told] == [
        ["Said", "Call", "Call"],
        ["Said", "Call"],
        ["Said"],
    ]
    assert [call.call_id for call in told[0].calls] == ["t1", "t2"]


RESULTS: list[tuple[dict[str, Any], str, bool]] = [
    ({}, "found", False),
    ({"output": {"n": [1, None]}}, '{"n":[1,null]}', False),
    ({"output": {"n": 1}, "output_json": '{"N": 1}'}, '{"N": 1}', False),
    ({"output": None}, "null", False),
    ({"status": "failed", "error": {"code": "x"}}, '{"code":"x"}', True),
    ({"status": "failed"}, "There is no result: the call was not run.", True),
    ({"status": "pending"}, "There is no result: the call was not run.", True),
    ({"status": "cancelled"}, "There is no result: the call was cancelled.", True),
    ({"status": "completed"}, "Done.", False),
]


@pytest.mark.requirement("engines:transcript:results")
@pytest.mark.parametrize(("members", "text", "is_error"), RESULTS)
def test_every_call_has_a_result(members: dict[str, Any], text: str, is_error: bool) -> None:
    block = tool(**members)
    if "output" not in members and members:
        del block["output"]

    (call,) = steps(assistant(block))[0].calls

    assert (call.result, call.is_error) == (text, is_error)


@pytest.mark.requirement("engines:transcript:arguments")
def test_arguments_go_back_exactly_as_they_were_written() -> None:
    (call,) = steps(assistant(tool(input={"file_path": 1}, input_json='{"filePath": 1.0 }')))[
        0
    ].calls

    assert call.arguments == '{"filePath": 1.0 }'
    assert call.input == {"filePath": 1.0}


@pytest.mark.parametrize(
    ("members", "arguments"),
    [({"input": {"a": "é"}}, '{"a":"é"}'), ({"input": "text"}, '"text"')],
)
def test_arguments_without_a_source_are_written_anew(
    members: dict[str, Any], arguments: str
) -> None:
    (call,) = steps(assistant(tool(**members)))[0].calls

    assert call.arguments == arguments
    assert isinstance(call.input, dict)


@pytest.mark.requirement("engines:transcript:results")
def test_a_call_whose_arguments_were_cut_was_never_made() -> None:
    assert steps(assistant(tool(input_json='{"a": '), prose("sorry"))) == [
        Step("assistant", [Said("sorry")])
    ]


@pytest.mark.parametrize("key", ["block", "call"])
def test_a_result_in_a_message_of_the_tool_is_paired_with_its_call(key: str) -> None:
    data = {"provider": "openai-chat", "call_id": "call_9"}
    asked = assistant(tool(status="pending", provider_data=data))
    del asked["content"][0]["output"]
    result = tool("t1" if key == "block" else "t_other", output="paired", provider_data=data)
    answer = {**user("x", "msg_t"), "role": "tool", "content": [result]}

    told = steps(asked, answer)

    assert [step.role for step in told] == ["assistant"]
    assert told[0].calls[0].result == "paired"
    assert told[0].calls[0].call_id == "call_9"


def test_a_result_without_a_call_is_told_as_text() -> None:
    message = {**user("x"), "role": "tool", "content": [tool("t9"), prose("note"), prose("", "e")]}

    assert steps(message) == [
        Step("user", [Said("[result of look]\nfound"), Said("note")]),
    ]


def test_ids_and_names_are_what_every_provider_accepts() -> None:
    data = {"provider": "gemini", "call_id": "call/1"}
    block = tool("block:1", tool="mcp.look up", provider_data=data)

    (call,) = steps(assistant(block))[0].calls

    assert (call.call_id, call.name, call.data) == ("call_1", "mcp_look_up", None)


def test_a_tool_without_a_name_gets_one() -> None:
    assert steps(assistant(tool(tool="")))[0].calls[0].name == "unnamed"


# Bodies ------------------------------------------------------------------------------------------

PICTURE = Image("image/png", "aGk=")
PICTURED = {
    **user("look"),
    "content": [
        {"id": "a", "type": "attachment", "attachment_id": "att_1", "name": "n", "media_type": "image/png"},
        prose("what is it?"),
    ],
}  # fmt: skip


def data_of(api: str, **members: Any) -> dict[str, Any]:
    return {"provider_data": {"provider": api, **members}}


def conversation(api: str) -> list[dict[str, Any]]:
    """A picture, a signed thought, two calls of which one failed, an answer, another question."""
    thought = reasoning(
        "hm",
        provider=api,
        signature="sig",
        encrypted_content="enc",
        item_id="rs_1",
        thought_signature="ts",
        reasoning_detail_1={"type": "reasoning.encrypted", "data": "d"},
        reasoning_detail_2_json='{"Data": 1}',
    )
    return [
        PICTURED,
        assistant(
            thought,
            prose("looking"),
            tool("t1", **data_of(api, call_id="call_1", thought_signature="cs")),
            tool("t2", status="failed", error="gone", **data_of(api, call_id="call_2")),
            prose("done", "b2"),
        ),
        user("and now?", "msg_9"),
    ]


def body(api: HttpApi, options: dict[str, Any] | None = None, **members: Any) -> Any:
    messages = members.pop("messages", conversation(api))
    for message in messages:
        for block in message["content"]:
            if block.get("error") == "gone":
                block.pop("output", None)
    transcript = read_transcript(
        request(messages=messages, system="Be brief."), api=api, images={"att_1": PICTURE}
    )
    return BODIES[api](transcript, "m", options or {})


def test_a_chat_completion_is_asked_in_its_own_words() -> None:
    assert body("openai-chat")["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "text", "text": "what is it?"},
            ],
        },
        {
            "role": "assistant",
            "content": "looking",
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "d"}, {"Data": 1}],
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"path":"a"}'}},
                {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": '{"path":"a"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "found"},
        {"role": "tool", "tool_call_id": "call_2", "content": "gone"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "and now?"},
    ]  # fmt: skip


def test_responses_are_asked_in_their_own_words() -> None:
    asked = body("openai-responses", {"reasoning_effort": "low"})

    assert asked["instructions"] == "Be brief."
    assert asked["store"] is False
    assert asked["reasoning"] == {"effort": "low"}
    assert asked["include"] == ["reasoning.encrypted_content"]
    assert asked["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
                {"type": "input_text", "text": "what is it?"},
            ],
        },
        {"type": "reasoning", "summary": [], "encrypted_content": "enc", "id": "rs_1"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "looking"}]},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"path":"a"}'},
        {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": '{"path":"a"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "found"},
        {"type": "function_call_output", "call_id": "call_2", "output": "gone"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "and now?"}]},
    ]
    assert "include" not in body("openai-responses")


def test_free_text_calls_and_unsigned_thoughts_go_back_to_responses_as_what_they_were() -> None:
    api: HttpApi = "openai-responses"
    custom = tool("t1", input="print(1)", **data_of(api, call_id="c", item_type="custom_tool_call"))
    bare = reasoning("hm", provider=api, encrypted_content="e")

    asked = body(api, messages=[assistant(reasoning("hm", provider=api), bare, custom)])

    assert asked["input"] == [
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "custom_tool_call", "call_id": "c", "name": "look", "input": "print(1)"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "found"},
    ]


def test_anthropic_is_asked_in_its_own_words() -> None:
    asked = body("anthropic")

    assert asked["system"] == "Be brief."
    assert asked["max_tokens"] == 8192
    assert asked["tools"] == [{"name": "look", "input_schema": {"type": "object"}}]
    assert asked["tool_choice"] == {"type": "none"}
    assert asked["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
                {"type": "text", "text": "what is it?"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "text": "looking"},
                {"type": "tool_use", "id": "call_1", "name": "look", "input": {"path": "a"}},
                {"type": "tool_use", "id": "call_2", "name": "look", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "found"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": "gone", "is_error": True},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"role": "user", "content": [{"type": "text", "text": "and now?"}]},
    ]  # fmt: skip


def test_anthropic_gets_back_what_it_ran_and_hid() -> None:
    api: HttpApi = "anthropic"
    searched = tool(
        "t1",
        tool="web_search",
        output=[{"type": "web_search_result", "encrypted_content": "e"}],
        **data_of(api, call_id="srv_1", block_type="server_tool_use"),
    )
    messages = [
        assistant(
            reasoning("", provider=api, redacted_data="xyz"),
            reasoning("unsigned", provider=api),
            searched,
        )
    ]

    asked = body(api, {"thinking_tokens": 1000}, messages=messages)

    assert asked["thinking"] == {"type": "enabled", "budget_tokens": 1000}
    assert asked["max_tokens"] == 9192
    assert "tools" not in asked
    assert asked["messages"] == [
        {
            "role": "assistant",
            "content": [
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"path": "a"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srv_1",
                    "content": [{"type": "web_search_result", "encrypted_content": "e"}],
                },
            ],
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "result_type"),
    [
        ("web_fetch", "web_fetch_tool_result"),
        ("bash_code_execution", "bash_code_execution_tool_result"),
        ("tool_search_tool_regex", "tool_search_tool_result"),
        ("tool_search_tool_bm25", "tool_search_tool_result"),
    ],
)
def test_anthropic_gets_its_results_back_under_their_own_types(name: str, result_type: str) -> None:
    data = data_of("anthropic", call_id="srv_1", block_type="server_tool_use")
    searched = tool("t1", tool=name, output={"type": "x"}, **data)

    asked: Any = body("anthropic", messages=[assistant(searched)])

    assert asked["messages"][0]["content"][1]["type"] == result_type


def test_gemini_is_asked_in_its_own_words() -> None:
    asked = body("gemini")

    assert asked["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert asked["contents"] == [
        {
            "role": "user",
            "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                {"text": "what is it?"},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True, "thoughtSignature": "ts"},
                {"text": "looking"},
                {
                    "functionCall": {"id": "call_1", "name": "look", "args": {"path": "a"}},
                    "thoughtSignature": "cs",
                },
                {"functionCall": {"id": "call_2", "name": "look", "args": {"path": "a"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "call_1", "name": "look", "response": {"result": "found"}}},
                {"functionResponse": {"id": "call_2", "name": "look", "response": {"error": "gone"}}},
            ],
        },
        {"role": "model", "parts": [{"text": "done"}]},
        {"role": "user", "parts": [{"text": "and now?"}]},
    ]  # fmt: skip


def test_gemini_is_not_told_unsigned_thoughts_and_gives_most_calls_no_id() -> None:
    api: HttpApi = "gemini"
    messages = [assistant(reasoning("hm", provider=api), tool("t1", **data_of(api)))]

    (model, _result) = body(api, messages=messages)["contents"]

    assert model["parts"] == [{"functionCall": {"name": "look", "args": {"path": "a"}}}]
    only_thought = [assistant(reasoning("hm", provider=api))]
    assert body(api, messages=only_thought)["contents"] == []


def test_ollama_is_asked_in_its_own_words() -> None:
    call = {"function": {"name": "look", "arguments": {"path": "a"}}}

    assert body("ollama-chat")["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "what is it?", "images": ["aGk="]},
        {"role": "assistant", "content": "looking", "tool_calls": [call, call]},
        {"role": "tool", "tool_name": "look", "content": "found"},
        {"role": "tool", "tool_name": "look", "content": "gone"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "and now?"},
    ]


@pytest.mark.parametrize("api", list(BODIES))
def test_an_answer_of_nothing_is_left_out(api: HttpApi) -> None:
    notice = {"id": "n", "type": "notice", "code": "x", "message": "m"}
    transcript = read_transcript(
        request(messages=[assistant(notice, reasoning("x", provider=api))]), api=api
    )

    told = BODIES[api](transcript, "m", {})

    assert [told.get(name, []) for name in ("messages", "input", "contents") if name in told] == [
        []
    ]


# Options -----------------------------------------------------------------------------------------

TOOLS: list[dict[str, Any]] = [
    {"name": "one", "description": "First.", "parameters": {"type": "object"}},
    {"name": "two", "parameters_json": '{"type": "object", "additionalProperties": false}'},
]


def declared(api: HttpApi, choice: str) -> tuple[Any, Any]:
    asked = body(api, {"tools": TOOLS, "tool_choice": choice})
    return asked.get("tools"), asked.get("tool_choice", asked.get("toolConfig"))


@pytest.mark.parametrize("choice", ["auto", "none", "required", "one"])
@pytest.mark.parametrize("api", list(BODIES))
def test_tools_and_choice_are_declared_in_each_apis_words(api: HttpApi, choice: str) -> None:
    tools, word = declared(api, choice)
    expected: dict[str, dict[str, Any]] = {
        "openai-chat": {"one": {"type": "function", "function": {"name": "one"}}},
        "openai-responses": {"one": {"type": "function", "name": "one"}},
        "anthropic": {
            "auto": {"type": "auto"},
            "none": {"type": "none"},
            "required": {"type": "any"},
            "one": {"type": "tool", "name": "one"},
        },
        "gemini": {
            "auto": {"functionCallingConfig": {"mode": "AUTO"}},
            "none": {"functionCallingConfig": {"mode": "NONE"}},
            "required": {"functionCallingConfig": {"mode": "ANY"}},
            "one": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["one"]}},
        },
        "ollama-chat": dict.fromkeys(["auto", "none", "required", "one"]),
    }

    assert word == expected[api].get(choice, choice)
    if api == "ollama-chat" and choice == "none":
        assert tools is None
    else:
        assert "additionalProperties" in str(tools)
        assert "First." in str(tools)


VALUES: dict[str, Any] = {
    "number": 0.5,
    "count": 7,
    "boolean": True,
    "text": "low",
    "texts": ["END"],
    "tools": [],
    "choice": "auto",
}
WRONG: dict[str, Any] = {
    "number": True,
    "count": -1,
    "boolean": 1,
    "text": 1,
    "texts": "END",
    "tools": {},
    "choice": 1,
}
EACH = [(api, name) for api, options in OPTIONS.items() for name in options]


@pytest.mark.requirement("engines:options:listed")
@pytest.mark.parametrize(("api", "name"), EACH)
def test_every_option_has_its_place_and_its_type(api: HttpApi, name: str) -> None:
    option = OPTIONS[api][name]

    place: Any = body(api, {name: VALUES[option.kind]})
    for member in option.path:
        place = place[member]
    if option.path:
        assert place == VALUES[option.kind]

    with pytest.raises(EngineError) as caught:
        body(api, {name: WRONG[option.kind]})
    assert caught.value.code == "invalid_option"
    assert name in caught.value.detail


@pytest.mark.requirement("engines:options:listed")
def test_an_option_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(EngineError) as caught:
        body("anthropic", {"temprature": 1})

    assert caught.value.code == "invalid_option"
    assert "temperature" in caught.value.detail


@pytest.mark.parametrize(
    "broken",
    [
        ["one"],
        [{"description": "no name"}],
        [{"name": ""}],
        [{"name": "x", "description": 1}],
        [{"name": "x", "parameters": []}],
        [{"name": "x", "parameters_json": "{"}],
        [{"name": "x", "parameters_json": "[]"}],
    ],
)
def test_a_tool_that_is_none_is_refused(broken: list[Any]) -> None:
    with pytest.raises(EngineError) as caught:
        body("openai-chat", {"tools": cast("Any", broken)})

    assert caught.value.code == "invalid_option"
