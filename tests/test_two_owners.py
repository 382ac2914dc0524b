"""What two rooms must say alike although neither may import the other."""

from typing import Any, Final

import msgspec
import pytest
from msgspec import Struct

from blockwire.cli.settings import SETTINGS
from blockwire.cli.settingtable import PORT_MAX as SETTING_PORT_MAX
from blockwire.client import DEFAULT_URL
from blockwire.client import failures as client
from blockwire.client.http import PORT_MAX as CLIENT_PORT_MAX
from blockwire.client.settings import HEARTBEAT_S as CLIENT_HEARTBEAT_S
from blockwire.engines.command import CommandSettings
from blockwire.engines.http import HttpSettings
from blockwire.engines.replay import ReplaySettings
from blockwire.engines.settings import SETTINGS as ENGINE_SETTINGS
from blockwire.engines.settings import EngineKind
from blockwire.gateway.access.limits import HEARTBEAT_S
from blockwire.gateway.http import answer

# setting of the configuration -> what the engine calls it, where that is another word
RENAMED: Final = {"read_timeout_s": "idle_timeout_s"}


def test_gateway_and_client_speak_one_version_under_one_name() -> None:
    assert (client.PROTOCOL, client.PROTOCOL_HEADER) == (answer.PROTOCOL, answer.PROTOCOL_HEADER)


def test_a_client_expects_the_heartbeats_that_a_gateway_sends() -> None:
    assert CLIENT_HEARTBEAT_S == HEARTBEAT_S


def test_a_client_looks_where_serve_listens_without_settings() -> None:
    assert f"http://{SETTINGS['host'].default}:{SETTINGS['port'].default}" == DEFAULT_URL
    assert CLIENT_PORT_MAX == SETTING_PORT_MAX


@pytest.mark.parametrize(
    ("kind", "engine"),
    [("command", CommandSettings), ("replay", ReplaySettings), ("openai", HttpSettings)],
)
def test_an_engine_made_in_python_has_the_defaults_of_a_configured_one(
    kind: EngineKind, engine: type[Struct]
) -> None:
    own: dict[str, Any] = {
        field.name: field.default
        for field in msgspec.structs.fields(engine)
        if field.default is not msgspec.NODEFAULT
    }

    configured = {
        RENAMED.get(name, name): setting.default for name, setting in ENGINE_SETTINGS[kind].items()
    }

    shared = own.keys() & configured.keys()
    assert shared, "some of the settings are the engine's own"
    assert {name: own[name] for name in shared} == {name: configured[name] for name in shared}
