"""Which texts of a message a search may find."""

import pytest
from hypothesis import given

from blockwire.content import Block, Message, block_parts, searchable_block, searchable_blocks
from blockwire.content import searchable as module
from blockwire.jsontext import Json
from blockwire.testing.strategies import messages

PARTS: list[tuple[Block, list[str]]] = [
    ({"type": "prose", "markdown": "*a*"}, ["*a*"]),
    ({"type": "prose", "markdown": ""}, []),
    ({"type": "code", "text": "a", "language": "python"}, ["a"]),
    ({"type": "reasoning", "text": "a", "visibility": "visible"}, ["a"]),
    ({"type": "speech", "text": "a"}, ["a"]),
    ({"type": "error", "code": "c", "message": "a", "retryable": True}, ["a", "c"]),
    ({"type": "notice", "code": "c", "message": "a"}, ["a", "c"]),
    ({"type": "attachment", "attachment_id": "i", "name": "n", "media_type": "m"}, ["n"]),
    ({"type": "tool", "tool": "t", "status": "pending"}, ["t"]),
    (
        {
            "type": "tool",
            "tool": "t",
            "status": "failed",
            "input": {"a": {"b": ["x", "y", {"c": 1}], "d": None}, "e": "z"},
            "input_json": "left out",
            "output": "text",
            "error": None,
        },
        ["t", "a\nb\nx\ny\nc: 1\nd: null\ne: z", "text"],
    ),
    ({"type": "chart", "fallback_text": "a", "data": "b"}, ["a"]),
    ({"type": "chart", "fallback_text": 7}, []),
]


@pytest.mark.requirement("search:blocks:parts")
@pytest.mark.parametrize(("block", "parts"), PARTS)
def test_a_block_is_found_by(block: Block, parts: list[str]) -> None:
    assert block_parts({"id": "b1", **block}) == parts


def message(*blocks: Block, role: str = "assistant") -> Message:
    return {"id": "m", "role": role, "status": "completed", "content": [*blocks], "created_at": 1}


def test_only_what_everybody_may_see_is_searchable() -> None:
    public: Block = {"id": "b1", "type": "prose", "markdown": "a"}
    private: Block = {"id": "b2", "type": "reasoning", "text": "a"}
    sealed = public | {"provider_data": {"x": 1}}
    assert list(searchable_blocks(message(private, public, sealed))) == [(1, public), (2, public)]
    assert list(searchable_blocks(message(public, role="system"))) == []
    assert list(searchable_blocks(message(public, role="developer"))) == []
    assert searchable_block(message(public), 1) is None


@given(messages())
def test_blocks_of_any_message_have_parts(one: Message) -> None:
    for index, block in searchable_blocks(one):
        assert searchable_block(one, index) == block
        assert all(block_parts(block))


@pytest.mark.requirement("search:blocks:bounded")
def test_what_is_long_is_searched_at_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCHED_CHARS_MAX", 10)
    monkeypatch.setattr(module, "SEARCHED_BLOCKS_MAX", 2)
    values: Json = [["12345", "12345"], "12345", "unreached"]
    tool: Block = {"id": "b", "type": "tool", "tool": "t", "status": "pending", "input": values}
    assert block_parts(tool) == ["t", "12345\n123"]
    assert block_parts(tool | {"tool": "1234567890"}) == ["1234567890"]
    three: list[Block] = [{"id": f"b{n}", "type": "prose", "markdown": "a"} for n in range(3)]
    assert [index for index, _ in searchable_blocks(message(*three))] == [0, 1]
