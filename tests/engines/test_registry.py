"""From ``[engines.NAME]`` to an engine, and every way to get it wrong."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from blockwire.engines import (
    SETTINGS,
    CommandEngine,
    ExternalEngine,
    ReplayEngine,
    check_config,
    engine_provider,
    engine_secrets,
    make_engine,
)
from blockwire.engines.http import HttpEngine
from blockwire.engines.options import OPTIONS
from blockwire.errors import LocalProtocolError
from blockwire.ports import Engine
from tests.engines.settings_page import MARKED, OPTIONS_PREFIX, PAGE, rendered
from tests.engines.tools import CountingIds, ManualTime, collect, fold, guarded, request

pytestmark = pytest.mark.anyio


def table(toml: str) -> dict[str, Any]:
    return tomllib.loads(toml)


def make(toml: str, env: Mapping[str, str] | None = None) -> Engine:
    return make_engine(
        "mine",
        table(toml),
        clock=ManualTime(),
        ids=CountingIds(),
        env=env or {"PATH": "/bin:/usr/bin"},
    )


KINDS: list[tuple[str, type]] = [
    ('kind = "command"\ncommand = ["cat"]', CommandEngine),
    (
        'kind = "command"\ncommand = "cat -u"\ncwd = "/"\nenv = {A = "b"}\npass_env = ["C"]',
        CommandEngine,
    ),
    ('kind = "replay"', ReplayEngine),
    ('kind = "replay"\nspeed = 0\nrecording = "reasoning"', ReplayEngine),
    ('kind = "external"\ndeadline_s = 60', ExternalEngine),
    ('kind = "openai"\nmodel = "m"\nheaders = {X-Team = "t"}', HttpEngine),
    ('kind = "anthropic"\noptions = {max_tokens = 5}', HttpEngine),
    ('kind = "gemini"\nread_timeout_s = 5', HttpEngine),
    ('kind = "ollama"\nsends_images = true', HttpEngine),
]


@pytest.mark.parametrize(("toml", "expected"), KINDS)
async def test_every_kind_is_made_of_its_table(toml: str, expected: type) -> None:
    engine = make(toml)

    assert isinstance(engine, expected)
    await engine.aclose()


WRONG: list[tuple[str, str, str]] = [
    ("", "kind", "command"),
    ('kind = "comand"', "kind", "command"),
    ('kind = "command"', "command", "Program"),
    ('kind = "command"\ncommand = []', "command", "program"),
    ('kind = "command"\ncommand = ""', "command", "program"),
    ('kind = "command"\ncommand = "unclosed \'"', "command", "quotation"),
    ('kind = "command"\ncommand = [1]', "command", "array"),
    ('kind = "command"\ncommand = ["a"]\nouput = "text"', "ouput", "`output`"),
    ('kind = "command"\ncommand = ["a"]\noutput = "json"', "output", "ndjson"),
    ('kind = "command"\ncommand = ["a"]\nenv = {A = 1}', "env", "table"),
    ('kind = "command"\ncommand = ["a"]\nzzz = 1', "zzz", "kill_grace_s"),
    ('kind = "external"\nidle_s = -1', "idle_s", "number"),
    ('kind = "external"\nidle_s = true', "idle_s", "number"),
    ('kind = "external"\nanswer_bytes_max = 0', "answer_bytes_max", "integer"),
    ('kind = "external"\nmodel = ""', "model", "empty"),
    ('kind = "replay"\nrecording = "none-such"', "recording", "reasoning"),
    ('kind = "replay"\npath = "/no/such/folder"', "path", "read"),
    ('kind = "replay"\nspeed = "fast"', "speed", "number"),
    ('kind = "openai"\nbase_url = "ftp://x"', "base_url", "http"),
    ('kind = "openai"\nbase_url = "http://"', "base_url", "host"),
    ('kind = "openai"\nbase_url = "http://user:pw@x/v1"', "base_url", "user"),
    ('kind = "openai"\nbase_url = "http://x/v1?a=b"', "base_url", "query"),
    ('kind = "openai"\nbase_url = "http://x:99999"', "base_url", "http"),
    ('kind = "openai"\napi = "both"', "api", "responses"),
    ('kind = "openai"\nsends_images = "yes"', "sends_images", "true"),
    ('kind = "anthropic"\noptions = "x"', "options", "table"),
    ('kind = "anthropic"\napi = "chat"', "api", "api_key"),
]


@pytest.mark.requirement("engines:config:unknown")
@pytest.mark.parametrize(("toml", "key", "word"), WRONG)
def test_a_wrong_setting_is_named_with_what_is_right(toml: str, key: str, word: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        make(toml)

    assert caught.value.code == "invalid_config"
    assert caught.value.pointer == f"/engines/mine/{key}"
    assert word in caught.value.detail
    assert caught.value.detail.startswith("engines.mine: ")


def test_limits_come_from_the_table_or_their_defaults() -> None:
    config = check_config("mine", table('kind = "external"\ndeadline_s = 9\nanswer_bytes_max = 7'))

    assert (config.limits.deadline_s, config.limits.idle_s, config.limits.bytes_max) == (9, 300, 7)
    assert config.is_external


def http(toml: str, env: Mapping[str, str]) -> Any:
    engine: Any = make(toml, env)
    return engine._settings


OPENAI = 'kind = "openai"\n'
LOCAL = 'base_url = "http://127.0.0.1:9/v1"\n'


@pytest.mark.parametrize(
    ("toml", "env", "key"),
    [
        (OPENAI, {"OPENAI_API_KEY": "from-env"}, "from-env"),
        (OPENAI + 'api_key_env = "MY_KEY"', {"OPENAI_API_KEY": "x", "MY_KEY": " mine\n"}, "mine"),
        (OPENAI + 'api_key = "written"', {"OPENAI_API_KEY": "from-env"}, "written"),
        (OPENAI + LOCAL, {"OPENAI_API_KEY": "from-env"}, "from-env"),
        (OPENAI + LOCAL, {}, None),
        (OPENAI, {}, None),
        (OPENAI, {"OPENAI_API_KEY": " "}, None),
    ],
)
def test_keys_come_from_the_table_or_the_environment(
    toml: str, env: Mapping[str, str], key: str | None
) -> None:
    headers = http(toml, env).headers

    assert headers.get("authorization") == (None if key is None else f"Bearer {key}")


@pytest.mark.parametrize(
    ("toml", "env", "word"),
    [
        (OPENAI, {}, "OPENAI_API_KEY"),
        (OPENAI + LOCAL + 'api_key_env = "MY_KEY"', {}, "MY_KEY"),
        (OPENAI + LOCAL, {}, None),
        (OPENAI, {"OPENAI_API_KEY": "k"}, None),
        (OPENAI + 'headers = {Authorization = "Basic x"}', {}, None),
        ('kind = "ollama"', {}, None),
        ('kind = "anthropic"', {}, "ANTHROPIC_API_KEY"),
        ('kind = "gemini"', {}, "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_said_only_where_one_is_needed(
    toml: str, env: Mapping[str, str], word: str | None
) -> None:
    hint = http(toml, env).key_hint

    assert (hint is None) if word is None else (hint is not None and word in hint)


@pytest.mark.parametrize(
    ("toml", "env", "base_url", "api", "provider"),
    [
        (OPENAI, {}, "https://api.openai.com/v1", "openai-responses", "openai"),
        (OPENAI + 'api = "chat"', {}, "https://api.openai.com/v1", "openai-chat", "openai"),
        (OPENAI + LOCAL, {}, "http://127.0.0.1:9/v1", "openai-chat", "127.0.0.1"),
        (OPENAI + LOCAL + 'api = "responses"', {}, "http://127.0.0.1:9/v1", "openai-responses", "127.0.0.1"),
        (OPENAI + LOCAL + 'provider = "lab"', {}, "http://127.0.0.1:9/v1", "openai-chat", "lab"),
        (OPENAI, {"OPENAI_BASE_URL": "https://x.example/v1"}, "https://x.example/v1", "openai-chat", "x.example"),
        ('kind = "ollama"', {"OLLAMA_HOST": "0.0.0.0:5"}, "http://127.0.0.1:5", "ollama-chat", "127.0.0.1"),
        ('kind = "ollama"', {}, "http://127.0.0.1:11434", "ollama-chat", "ollama"),
        ('kind = "anthropic"', {}, "https://api.anthropic.com", "anthropic", "anthropic"),
    ],
)  # fmt: skip
def test_where_to_ask_comes_from_the_table_or_the_environment(
    toml: str, env: Mapping[str, str], base_url: str, api: str, provider: str
) -> None:
    settings = http(toml, env)

    assert (settings.base_url, settings.api, settings.provider) == (base_url, api, provider)


def test_only_engines_that_ask_a_provider_have_one() -> None:
    assert engine_provider(check_config("x", {"kind": "replay"}), {}) is None


@pytest.mark.parametrize(
    ("toml", "env", "secrets"),
    [
        ('kind = "replay"', {"A_TOKEN": "secret-value"}, []),
        (OPENAI, {"OPENAI_API_KEY": "secret-value"}, ["secret-value"]),
        (OPENAI + 'headers = {X-Key = "header-secret", X-Team = "t"}', {}, ["header-secret"]),
        (
            'kind = "command"\ncommand = ["x"]\nenv = {DB = "secret-of-db"}\npass_env = ["A_TOKEN"]',
            {"A_TOKEN": "secret-value", "OTHER": "not-passed-on", "PATH": "/usr/bin"},
            ["secret-value", "secret-of-db"],
        ),
    ],
)
def test_what_an_engine_knows_is_what_must_not_be_said(
    toml: str, env: Mapping[str, str], secrets: list[str]
) -> None:
    assert engine_secrets(check_config("x", table(toml)), env) == secrets


async def test_a_program_from_a_table_answers(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text('read request\necho "hello $NAME"\n', encoding="utf-8")
    engine = make(
        f'kind = "command"\ncommand = ["sh", "agent.sh"]\ncwd = "{tmp_path}"\nenv = {{NAME = "you"}}'
    )

    message = fold(await collect(guarded(engine.run(request()))))

    assert message["content"][0]["markdown"] == "hello you\n"
    await engine.aclose()


async def test_a_demo_recording_from_a_table_plays() -> None:
    engine = make('kind = "replay"\nspeed = 0')

    seen = await collect(guarded(engine.run(request())))

    assert fold(seen)["status"] == "completed"
    await engine.aclose()


def test_an_http_client_is_imported_only_when_an_engine_needs_one() -> None:
    code = "import sys, blockwire.engines; print('httpx' in sys.modules)"

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )

    assert ended.stdout == "False\n"


async def test_engines_are_let_go_of_without_having_run() -> None:
    with anyio.fail_after(15):
        for toml, _kind in KINDS:
            await make(toml).aclose()


# The page ----------------------------------------------------------------------------------------


def test_the_tables_of_the_reference_are_those_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert rendered(page) == page, "run `python -m tests.engines.settings_page`"


def test_the_reference_has_a_table_for_every_kind_and_api() -> None:
    names = {match[2] for match in MARKED.finditer(PAGE.read_text(encoding="utf-8"))}

    options = {f"{OPTIONS_PREFIX}{api}" for api in OPTIONS}
    assert names == {"common", *options, *(kind for kind in SETTINGS if kind != "external")}
