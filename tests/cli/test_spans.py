"""Where spans go, as the variables of OpenTelemetry say."""

import subprocess
import sys
from pathlib import Path

import pytest

from blockwire.cli.spans import open_tracing
from blockwire.errors import LocalProtocolError
from tests.support.programs import Gateway, call, environment

NOTHING = [
    {},
    {"OTEL_TRACES_EXPORTER": ""},
    {"OTEL_TRACES_EXPORTER": "none"},
    {"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "true"},
]


@pytest.mark.parametrize("env", NOTHING)
def test_nobody_asked_for_spans(env: dict[str, str]) -> None:
    assert not open_tracing(env).tracing.makes_spans


def test_an_exporter_that_is_not_installed_says_how_to_get_it() -> None:
    with pytest.raises(LocalProtocolError) as refused:
        open_tracing({"OTEL_TRACES_EXPORTER": "console,carrier-pigeon"})

    assert refused.value.code == "invalid_config"
    assert "pip install opentelemetry-exporter-carrier-pigeon" in refused.value.detail


def test_without_the_extra_a_warning_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    choice = open_tracing({"OTEL_TRACES_EXPORTER": "console"})

    assert not choice.tracing.makes_spans
    assert "blockwire[otel]" in choice.warnings[0]


@pytest.mark.timeout(60)
def test_the_console_gets_spans_on_standard_error(tmp_path: Path) -> None:
    env = environment(tmp_path, OTEL_TRACES_EXPORTER="console", OTEL_BSP_SCHEDULE_DELAY="50")
    with Gateway(env, "--store", "memory:", cwd=tmp_path) as gateway:
        call(gateway.url, "/v1/conversations", method="POST", body={})
        gateway.process.terminate()
        out, errors = gateway.process.communicate(timeout=30)

    assert gateway.process.returncode == 0
    assert b'"name": "POST /v1/conversations"' in errors
    assert b'"service.name": "blockwire"' in errors
    assert out == b""


def test_nothing_of_it_is_imported_unless_asked_for() -> None:
    program = (
        "import sys; from blockwire.cli.spans import open_tracing; open_tracing({}); "
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=30)

    assert ended.returncode == 0
