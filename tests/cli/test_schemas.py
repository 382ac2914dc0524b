"""The published schemas are one list, made when somebody asks."""

from blockwire.cli.schemas import PublishedSchemas, published_schemas
from blockwire.content import content_schemas
from blockwire.terminal import message_schemas


def test_the_list_holds_the_schemas_of_every_room() -> None:
    schemas = published_schemas()

    assert schemas.keys() == {"engine-request", *content_schemas(), *message_schemas()}
    assert schemas["terminal_block_seal"] == message_schemas()["terminal_block_seal"]


def test_the_mapping_of_a_gateway_is_that_list() -> None:
    assert dict(PublishedSchemas()) == published_schemas()
    assert len(PublishedSchemas()) == len(published_schemas())
    assert "none" not in PublishedSchemas()
