"""Who calls: the one place that turns what a request presents into a caller.

Spec: docs/spec/gateway/auth.md.

On loopback without tokens every caller has all scopes. Once there is any token, and on any other
bind, there is no access without one. Secrets are kept as SHA-256, compared in constant time, and
never part of a URL or a log; a ticket may be part of a URL, and is part of no log.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.gateway.access.callers import LOCAL_CALLER, OPEN_DOOR, SCOPES, Caller, Scope
from blockwire.gateway.access.credentials import SECRET_PREFIXES, hash_token, is_mistyped
from blockwire.gateway.access.keyring import Keyring
from blockwire.gateway.access.sites import Sites, is_loopback
from blockwire.gateway.access.tokens import Token, TokenFile, load_token_file

__all__ = [
    "SCOPES", "Auth", "Caller", "Presented", "Scope", "Token", "TokenFile", "cookie_names",
    "hash_token", "is_loopback", "load_token_file", "read_cookie",
]  # fmt: skip

# RFC 6750, section 2.1: b64token.
_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9\-._~+/]+=*)\Z", re.IGNORECASE)
_PORT: Final = re.compile(r":([0-9]{1,5})\Z")


class Presented(NamedTuple):
    """What a request shows to be let in.

    Attributes:
        authorizations: Values of ``Authorization``.
        cookies: Values of ``Cookie``.
        hosts: Values of ``Host``; a cookie is named by its port.
        ticket: Of the query, on routes that take one.
    """

    authorizations: Sequence[str] = ()
    cookies: Sequence[str] = ()
    hosts: Sequence[str] = ()
    ticket: str | None = None


class Auth:
    """Decides about each request before anything else looks at it.

    Attributes:
        sites: Which pages and proxies are taken for what they say.
    """

    def __init__(  # noqa: PLR0913 - what can be configured
        self,
        tokens: Sequence[Token] = (),
        *,
        own_token: Token | None = None,
        host: str = "127.0.0.1",
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        trusted_proxies: Iterable[str] = (),
    ) -> None:
        """Take what is configured.

        Args:
            tokens: Of the token file, besides those of the store.
            own_token: Lets in the commands of whoever runs the gateway; it is not counted as one.
            host: The bind.
            allowed_hosts: See :class:`~blockwire.gateway.access.sites.Sites`.
            allowed_origins: See there.
            trusted_proxies: See there.

        Raises:
            LocalProtocolError: ``invalid_config``.
        """
        self._host = host
        self._tokens = {token.sha256: token for token in tokens}
        self._own = own_token
        self.sites = Sites(
            host=host,
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            trusted_proxies=trusted_proxies,
        )

    def take_over(self, other: Auth) -> list[str]:
        """Do from now on as ``other`` is configured, but for the bind and the own token.

        Returns the hashes of tokens that are gone or allow something else: whoever came in with
        them has to go (:meth:`~blockwire.gateway.access.guests.Guests.close`).
        """
        gone = [
            digest for digest, token in self._tokens.items() if other._tokens.get(digest) != token
        ]
        if other._tokens and not self._tokens:
            gone.append(OPEN_DOOR)
        self._tokens, self.sites = other._tokens, other.sites
        return gone

    def check_bind(self, keyring: Keyring) -> None:
        """Refuse a bind that nobody could use, or anybody.

        Raises:
            LocalProtocolError: ``tokens_required`` for a bind that is not loopback without tokens.
        """
        if not self.sites.is_loopback and not self._has_tokens(keyring):
            raise LocalProtocolError(
                "tokens_required",
                f"{self._host} is reached from other machines: make a token first, "
                "or bind to 127.0.0.1",
            )

    def _has_tokens(self, keyring: Keyring) -> bool:
        return bool(self._tokens) or keyring.has_tokens

    def has_name(self, name: str) -> bool:
        """Return whether a token that is not the store's has this name.

        Limits and logs know callers by their names.
        """
        own = () if self._own is None else (self._own,)
        return any(token.name == name for token in (*own, *self._tokens.values()))

    def is_open(self, keyring: Keyring) -> bool:
        """Return whether nobody needs a token."""
        return self.sites.is_loopback and not self._has_tokens(keyring)

    def find_token(self, secret: str, keyring: Keyring) -> Token | None:
        """Return the token that is spelled ``secret``, if it lets anybody in now."""
        return self._find(hash_token(secret), keyring)

    def _find(self, digest: str, keyring: Keyring) -> Token | None:
        token = self._tokens.get(digest)
        if token is None and self._own is not None:
            token = self._own if hmac.compare_digest(self._own.sha256, digest) else None
        if token is not None and hmac.compare_digest(token.sha256, digest):
            return token
        return keyring.find_token(digest)

    async def identify(self, presented: Presented, keyring: Keyring) -> Caller:
        """Return who calls.

        Raises:
            RemoteProtocolError: ``unauthorized``.
        """
        if presented.ticket is not None:
            holder = keyring.find_ticket(hash_token(presented.ticket))
            if holder is None:
                raise _unauthorized("the ticket is over, or none of ours; fetch a new one")
            return holder
        bearer = _bearer(presented.authorizations)
        if bearer is not None and bearer.startswith(SECRET_PREFIXES["share"]):
            return await self._shared(bearer, keyring)
        if self.is_open(keyring):
            return LOCAL_CALLER
        if not presented.authorizations and presented.cookies:
            return await self._logged_in(presented, keyring)
        if bearer is None:
            raise _unauthorized("send Authorization: Bearer and a token")
        token = self.find_token(bearer, keyring)
        if token is None:
            what = "was cut or mistyped" if is_mistyped(bearer) else "is not known, or over"
            raise _unauthorized(f"this token {what}")
        await keyring.note_use(token.sha256)
        return _caller(token)

    async def _shared(self, secret: str, keyring: Keyring) -> Caller:
        digest = hash_token(secret)
        share = await keyring.find_share(digest)
        if share is None:
            raise _unauthorized("the link is over, or was taken back")
        return Caller(
            f"share {share.id}",
            frozenset({"read"}),
            conversation_id=share.conversation_id,
            via="share",
            grants=(digest,),
            expires_at=share.expires_at,
        )

    async def _logged_in(self, presented: Presented, keyring: Keyring) -> Caller:
        secret = read_cookie(presented.cookies, presented.hosts)
        login = None if secret is None else await keyring.find_login(hash_token(secret))
        token = None if login is None else self._find(login.token_hash, keyring)
        if login is None or token is None:
            raise _unauthorized("the login is over: log in again")
        caller = _caller(token)
        return caller._replace(
            via="cookie",
            grants=(login.secret_hash, *caller.grants),
            expires_at=login.expires_at,
        )


def _caller(token: Token) -> Caller:
    return Caller(
        token.name,
        token.scopes,
        token.tenant,
        grants=(token.sha256,),
        expires_at=token.expires_at,
    )


def _bearer(authorizations: Sequence[str]) -> str | None:
    match = _BEARER.match(authorizations[0]) if len(authorizations) == 1 else None
    return None if match is None else match[1]


def cookie_names(hosts: Sequence[str]) -> tuple[str, str]:
    """Return the names of the cookie: over TLS, where only we can set it, and without.

    Without, it is named by our port: browsers keep one set of cookies for all ports of a machine.
    """
    port = _PORT.search(hosts[0]) if len(hosts) == 1 else None
    return "__Host-blockwire", f"blockwire-{port[1] if port else 80}"


def read_cookie(cookies: Sequence[str], hosts: Sequence[str]) -> str | None:
    """Return the secret that our cookie holds, or None."""
    for name in cookie_names(hosts):
        for header in cookies:
            # Others on this machine set cookies, too, and not all of them by the book.
            for pair in header.split(";"):
                key, _, value = pair.strip().partition("=")
                if key == name:
                    return value
    return None


def _unauthorized(detail: str) -> RemoteProtocolError:
    return RemoteProtocolError("unauthorized", detail)
