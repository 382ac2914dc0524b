"""Calls over HTTP: one place for headers, versions, errors and repetition.

Spec: docs/spec/gateway/routes.md; docs/how-to/python-client.md.

Only what may be repeated is: reads, and submits, which carry a key. A call whose answer was lost
may have been obeyed, and only its caller knows whether it may happen twice.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

import httpx

from blockwire import __version__
from blockwire.client.failures import (
    PROTOCOL,
    PROTOCOL_HEADER,
    ClientError,
    check_protocol,
    client_closed,
    connection_lost,
    is_passing,
    refusal,
    unexpected,
    unreachable,
)
from blockwire.client.settings import ClientSettings
from blockwire.client.timing import Timing, pause_s, sleep
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import ENVELOPED_DEPTH_MAX, Json, decode_json, encode_json
from blockwire.text import label_controls

__all__ = ["ANSWER_BYTES_MAX", "REFUSAL_BYTES_MAX", "Answer", "Http"]

ANSWER_BYTES_MAX: Final = 268_435_456
"""Bytes of one answer; a turn with its message is far below (docs/spec/gateway/limits.md)."""

PORT_MAX: Final = 65_535

REFUSAL_BYTES_MAX: Final = 65_536
"""Bytes that are read of an answer that is an error."""


class Answer(NamedTuple):
    """An answer that is no error."""

    status: int
    headers: Mapping[str, str]
    value: Json


class Http:
    """A gateway's address and how to call it.

    Attributes:
        base_url: Without a slash at its end.
        settings: Bounds.
        timing: The clock.
        random: Returns a number in [0, 1), for pauses.

    Raises:
        LocalProtocolError: ``invalid_url``, ``invalid_token``.
    """

    def __init__(  # noqa: PLR0913 - where, as whom, how patiently
        self,
        base_url: str,
        *,
        token: str | None,
        settings: ClientSettings,
        timing: Timing,
        random: Callable[[], float],
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.settings = settings
        self.timing = timing
        self.random = random
        self._client = httpx.AsyncClient(
            base_url=_checked_url(self.base_url),
            headers=_headers(token),
            timeout=httpx.Timeout(settings.call_s, connect=settings.connect_s, pool=None),
            # Every stream holds a connection, and a program may watch many conversations.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            transport=transport,
            verify=_tls(self.base_url),
            # A proxy of the environment cannot reach this machine's own gateway.
            trust_env=not _is_loopback(self.base_url),
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def call(  # noqa: PLR0913 - what a request consists of
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | None] | None = None,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
        is_repeatable: bool | None = None,
        wait_s: float = 0.0,
    ) -> Answer:
        """Return the answer.

        Args:
            method: GET, POST, ...
            path: From the base URL on, encoded.
            query: Parameters; those that are None are left out.
            body: A JSON value; None sends no body.
            headers: Besides those of every request.
            is_repeatable: Whether to try again what was lost or refused for a moment; GET is.
            wait_s: How long the gateway may take before it begins to answer.

        Raises:
            ClientError: A refusal, or ``gateway_unreachable``, ``connection_lost``,
                ``protocol_mismatch``, ``unexpected_content_type``, ``invalid_answer``, ...
        """
        request = self._client.build_request(
            method,
            path,
            params={name: value for name, value in (query or {}).items() if value is not None},
            content=None if body is None else encode_json(body),
            headers={
                "accept": "application/json",
                **({} if body is None else {"content-type": "application/json"}),
                **(headers or {}),
            },
            timeout=httpx.Timeout(
                self.settings.call_s + wait_s, connect=self.settings.connect_s, pool=None
            ),
        )
        repeats = method == "GET" if is_repeatable is None else is_repeatable
        failure_count = 0
        while True:
            try:
                return await self._call_once(request)
            except ClientError as error:
                failure_count += 1
                if not repeats or not await self.pauses_after(error, failure_count):
                    raise

    async def pauses_after(self, error: ClientError, failure_count: int) -> bool:
        """Wait before a repetition; return False at once where there should be none."""
        settings = self.settings
        passes = error.status is None or is_passing(error.status)
        if not (passes and error.retryable) or failure_count >= settings.call_tries_max:
            return False
        asked_s = error.retry_after_s or 0.0
        if asked_s > settings.call_wait_s_max:
            return False
        delay_s = asked_s + pause_s(
            failure_count, settings.call_retry_s, settings.call_retry_s_max, self.random
        )
        await sleep(self.timing, delay_s)
        return True

    async def _call_once(self, request: httpx.Request) -> Answer:
        response = await self.send(request)
        try:
            status, headers = response.status_code, response.headers
            check_protocol(headers.get(PROTOCOL_HEADER), self.base_url)
            is_good = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
            bytes_max = ANSWER_BYTES_MAX if is_good else REFUSAL_BYTES_MAX
            body = await self.read(response, bytes_max)
        finally:
            await response.aclose()
        if not is_good:
            now_ms = self.timing.now_ms()
            raise refusal(status, headers, body, base_url=self.base_url, now_ms=now_ms)
        if status == HTTPStatus.NO_CONTENT:
            return Answer(status, headers, None)
        return Answer(status, headers, self._json_of(response, body))

    def _json_of(self, response: httpx.Response, body: bytes) -> Json:
        content_type = response.headers.get("content-type", "")
        if content_type.partition(";")[0].strip().lower() != "application/json":
            found = label_controls(content_type[:64], breaks="label", tabs="label")
            what = f"with {found or 'no content type'} where JSON was asked for"
            raise unexpected("unexpected_content_type", self.base_url, what, response.status_code)
        try:
            return decode_json(body, depth_max=ENVELOPED_DEPTH_MAX)
        except RemoteProtocolError as error:
            raise ClientError(
                "invalid_answer", f"{self.base_url} answered with JSON that is none: {error.detail}"
            ) from None

    # what streams and uploads need, too ---------------------------------------------------
    def build(  # noqa: PLR0913 - what a request consists of
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        content: bytes | AsyncIterable[bytes] | None = None,
        read_s: float | None = None,
    ) -> httpx.Request:
        """Return a request whose answer may take ``read_s`` between two bytes; None for any time."""
        timeout = httpx.Timeout(
            read_s, connect=self.settings.connect_s, write=self.settings.call_s, pool=None
        )
        return self._client.build_request(
            method, path, params=dict(query), headers=headers, content=content, timeout=timeout
        )

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Return the answer's head; its body is still to be read, and the caller closes it.

        Raises:
            ClientError: ``gateway_unreachable``, ``connection_lost``, ``client_closed``.
        """
        if self._client.is_closed:
            raise client_closed()
        try:
            return await self._client.send(request, stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise unreachable(self.base_url, _reason(error)) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise connection_lost(self.base_url, _reason(error)) from error

    async def read(self, response: httpx.Response, bytes_max: int) -> bytes:
        """Return the body; of an error, at most ``bytes_max`` bytes of it.

        Raises:
            ClientError: ``connection_lost``, ``invalid_answer``.
        """
        body = bytearray()
        async for chunk in self.chunks(response):
            body += chunk
            if len(body) > bytes_max:
                break
        if len(body) > bytes_max:
            if response.is_success:
                detail = f"{self.base_url} answered with more than {bytes_max} bytes"
                raise ClientError("invalid_answer", detail)
            del body[bytes_max:]
        return bytes(body)

    async def chunks(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        """Yield the body as it comes.

        Raises:
            ClientError: ``connection_lost``.
        """
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise connection_lost(self.base_url, _reason(error)) from error


def _reason(error: Exception) -> str:
    """Return why a transport failed, in its own words where it has some."""
    return label_controls(str(error)[:200], breaks="label", tabs="label") or type(error).__name__


def _headers(token: str | None) -> dict[str, str]:
    headers = {PROTOCOL_HEADER: PROTOCOL, "user-agent": f"blockwire/{__version__}"}
    if token is not None:
        if not (token.isascii() and token.isprintable() and token.strip()):
            raise LocalProtocolError("invalid_token", "a token is printable ASCII")
        headers["authorization"] = f"Bearer {token.strip()}"
    return headers


def _checked_url(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise LocalProtocolError("invalid_url", f"the gateway's URL is none: {error}") from None
    is_usable = url.scheme in {"http", "https"} and url.host and (url.port or 0) <= PORT_MAX
    if not is_usable or url.query or url.fragment:
        raise LocalProtocolError(
            "invalid_url",
            "the gateway's URL is http://HOST:PORT or https://HOST; a path may follow, no query",
        )
    if url.userinfo:
        raise LocalProtocolError("invalid_url", "credentials go into a token, not into the URL")
    return url


def _tls(base_url: str) -> ssl.SSLContext:
    """Return what https needs; loading the authorities takes longer than a call on loopback."""
    if httpx.URL(base_url).scheme == "https":
        return httpx.create_ssl_context()
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _is_loopback(base_url: str) -> bool:
    host = httpx.URL(base_url).host
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
