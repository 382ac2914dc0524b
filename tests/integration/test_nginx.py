"""Behind nginx: events come one by one, uploads are acknowledged, and every cursor stays good."""

import contextlib
import http.client
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from blockwire.client import Client
from tests.support.nginx import Nginx, documented_server, free_port, needs_nginx
from tests.support.programs import Gateway, call, decoded, environment

pytestmark = [needs_nginx, pytest.mark.timeout(60)]


def buffering_server(*, port: int, gateway_port: int) -> str:
    """Return what nginx does when nobody has told it anything: HTTP/1.0, and buffers."""
    return f"""server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://127.0.0.1:{gateway_port}; proxy_set_header Host $host; }}
    }}"""


def zipping_server(*, port: int, gateway_port: int) -> str:
    """Return one that compresses streams although `no-transform` asks it not to."""
    text = buffering_server(port=port, gateway_port=gateway_port)
    zipping = "gzip on; gzip_types text/event-stream; gzip_min_length 1; gzip_proxied any;"
    return text.replace("location /", f"{zipping}\n        location /")


ServerText = Callable[..., str]


@contextlib.contextmanager
def proxied(folder: Path, server: ServerText) -> Iterator[tuple[Gateway, Nginx]]:
    env = environment(folder)
    with Gateway(env, "--store", f"sqlite:///{folder}/store.db") as gateway:
        port = free_port()
        text = server(port=port, gateway_port=gateway.port)
        # The name of the page is not resolved here: the first server is the default one.
        with Nginx(folder / "nginx", text, port) as nginx:
            yield gateway, nginx


class Events:
    """One stream through the proxy, read frame by frame as it arrives."""

    def __init__(self, port: int, path: str, **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.connection.request("GET", path, headers={"accept": "text/event-stream", **headers})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        is_zipped = self.answer.headers.get("content-encoding") == "gzip"
        self._unzip = zlib.decompressobj(wbits=31) if is_zipped else None
        self._text = b""

    def _line(self) -> bytes:
        while b"\n" not in self._text:
            chunk = self.answer.read1(65_536)
            assert chunk, "the stream has ended"
            self._text += self._unzip.decompress(chunk) if self._unzip else chunk
        line, _, self._text = self._text.partition(b"\n")
        return line

    def next(self) -> dict[str, Any]:
        """Return the next event; blocks until it is here."""
        while True:
            line = self._line()
            if line.startswith(b"data: "):
                value: dict[str, Any] = decoded(line[6:])
                return value

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


def start_turn(url: str) -> tuple[str, str]:
    conversation = call(url, "/v1/conversations", method="POST", body={})["id"]
    turn = call(
        url,
        f"/v1/conversations/{conversation}/turns",
        method="POST",
        body={"content": "hello", "engine": "external"},
    )
    return conversation, turn["id"]


def post(url: str, conversation: str, turn: str, *events: bytes) -> list[dict[str, Any]]:
    path = f"/v1/conversations/{conversation}/turns/{turn}/events"
    acknowledgements: list[dict[str, Any]] = call(
        url, path, method="POST", body=b"\n".join(events) + b"\n"
    )
    return acknowledgements


def started(turn: str) -> bytes:
    return (
        b'{"type":"content.block.started","turn_id":"%b",'
        b'"block":{"id":"b1","type":"prose","markdown":""}}' % turn.encode()
    )


def delta(turn: str, text: str) -> bytes:
    return (
        b'{"type":"content.block.delta","turn_id":"%b","block_id":"b1","field":"markdown",'
        b'"text":"%b"}' % (turn.encode(), text.encode())
    )


@pytest.mark.parametrize("server", [documented_server, buffering_server, zipping_server])
@pytest.mark.requirement("gateway:stream:proxies")
@pytest.mark.case("S06")
def test_each_event_passes_the_proxy_when_it_comes(tmp_path: Path, server: ServerText) -> None:
    with proxied(tmp_path, server) as (gateway, nginx):
        conversation, turn = start_turn(nginx.url)
        path = f"/v1/conversations/{conversation}/events"
        events = Events(nginx.port, path, **{"accept-encoding": "gzip"})
        with contextlib.closing(events):
            while events.next()["type"] != "turn.started":
                pass
            post(gateway.url, conversation, turn, started(turn))
            assert events.next()["type"] == "content.block.started"

            # Each is read before the next is posted: one that is held back would never come.
            for number in range(20):
                post(gateway.url, conversation, turn, delta(turn, f"word{number} "))
                event = events.next()

                assert event["text"] == f"word{number} "
                assert event["prev_seq"] == event["seq"] - 1


@pytest.mark.parametrize("server", [documented_server, buffering_server])
def test_a_long_poll_and_an_upload_pass_the_proxy(tmp_path: Path, server: ServerText) -> None:
    with proxied(tmp_path, server) as (_gateway, nginx):
        conversation, turn = start_turn(nginx.url)

        acknowledged = post(nginx.url, conversation, turn, started(turn), delta(turn, "word"))
        page = call(
            nginx.url,
            f"/v1/conversations/{conversation}/events?wait=5&after={acknowledged[-1]['seq'] - 1}",
            headers={"accept": "application/json"},
        )

        assert [event["text"] for event in page["items"]] == ["word"]


def test_an_upload_is_acknowledged_line_by_line_through_the_documented_proxy(
    tmp_path: Path,
) -> None:
    with proxied(tmp_path, documented_server) as (_gateway, nginx):
        conversation, turn = start_turn(nginx.url)
        connection = http.client.HTTPConnection("127.0.0.1", nginx.port, timeout=20)
        with contextlib.closing(connection):
            connection.putrequest("POST", f"/v1/conversations/{conversation}/turns/{turn}/events")
            connection.putheader("content-type", "application/x-ndjson")
            connection.putheader("transfer-encoding", "chunked")
            connection.endheaders()
            assert connection.sock is not None
            lines = connection.sock.makefile("rb")

            def send(line: bytes) -> None:
                connection.send(b"%x\r\n%b\n\r\n" % (len(line) + 1, line))

            def acknowledged() -> int:
                while not (line := lines.readline()).startswith(b"{"):
                    assert line
                number: int = decoded(line)["seq"]
                return number

            send(started(turn))
            first = acknowledged()
            send(delta(turn, "word"))

            assert acknowledged() == first + 1
            connection.send(b"0\r\n\r\n")


def test_a_reader_survives_the_death_of_its_proxy(tmp_path: Path) -> None:
    env = environment(tmp_path)
    with Gateway(env, "--store", f"sqlite:///{tmp_path}/store.db") as gateway:
        port = free_port()
        text = documented_server(port=port, gateway_port=gateway.port)
        conversation, turn = start_turn(gateway.url)
        post(gateway.url, conversation, turn, started(turn), delta(turn, "before "))
        with contextlib.ExitStack() as stack:
            nginx = stack.enter_context(Nginx(tmp_path / "nginx", text, port))
            client = stack.enter_context(Client(nginx.url))
            texts = []
            for _state, event in client.events(conversation):
                texts.append(getattr(event, "text", ""))
                if texts[-1] == "before ":
                    nginx.process.kill()
                    nginx.process.wait()
                    post(gateway.url, conversation, turn, delta(turn, "meanwhile "))
                    stack.enter_context(Nginx(tmp_path / "nginx2", text, port))
                if texts[-1] == "meanwhile ":
                    break

            assert [text for text in texts if text] == ["before ", "meanwhile "]
