"""The looks of ``doctor`` at a store and at the machine that a gateway runs on.

Spec: docs/spec/gateway/operations.md, "Doctor". Each changes nothing, and says what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from blockwire.cli.findings import Finding
from blockwire.cli.settings import Config
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.access.sites import is_loopback
from blockwire.stores import StoreHealth, find_copies, read_owner, store_health

__all__ = ["look_at_backups", "look_at_clock", "look_at_limits", "look_at_proxy", "look_at_store"]

MIB: Final = 1 << 20
FREE_BYTES_MIN: Final = 64 * MIB
"""With less there is no room for what a busy day adds to a store."""

FREE_BYTES_FEW: Final = 1024 * MIB
WAL_BYTES_MAX: Final = 256 * MIB
"""What a gateway keeps beside the file, several times over."""

UNUSED_SHARE_MAX: Final = 0.5
EARLIEST_AT: Final = 1_735_689_600_000
"""2025: a clock that says less was never set."""

CLOCK_SLACK_MS: Final = 60_000
FILES_MIN: Final = 1_024
FILES_OTHERS: Final = 64
"""Open files of a gateway beside its connections."""

BACKUP_AGE_S_MAX: Final = 2 * 86_400


def look_at_store(path: Path) -> Iterator[Finding]:
    """Look at the file of a store, its disk, and who has it."""
    owner = read_owner(path)
    if owner is not None:
        yield Finding("ok", "gateway", f"process {owner.pid} serves {owner.url or 'no address'}")
    health = store_health(path)
    yield _soundness(path, health)
    if health.schema_version < health.schema_newest:
        detail = (
            f"schema {health.schema_version}; the next start brings it to {health.schema_newest} "
            "(blockwire migrate makes a copy first)"
        )
        yield Finding("warning", "store schema", detail)
    yield _room(health)
    if health.wal_bytes > WAL_BYTES_MAX:
        detail = f"{_mib(health.wal_bytes)} wait beside the file: something reads it for very long"
        yield Finding("warning", "store wal", detail)
    if health.unused_bytes > max(health.size_bytes * UNUSED_SHARE_MAX, 64 * MIB):
        detail = f"{_mib(health.unused_bytes)} of {_mib(health.size_bytes)} are unused"
        yield Finding("warning", "store size", detail)
    if not health.is_private:
        yield Finding("warning", "store mode", f"others can read {path}: chmod 600 it")


def _soundness(path: Path, health: StoreHealth) -> Finding:
    if health.problem is not None:
        detail = f"{path} is damaged; keep a copy, run blockwire check, restore the last backup"
        return Finding("problem", "store", detail)
    if not health.is_read:
        detail = f"{path} is large and was not read as a whole; blockwire check does"
        return Finding("warning", "store", detail)
    return Finding("ok", "store", f"{path} is in order ({_mib(health.size_bytes)})")


def _room(health: StoreHealth) -> Finding:
    detail = f"{_mib(health.free_bytes)} free"
    if health.free_bytes < FREE_BYTES_MIN:
        return Finding("problem", "disk", f"{detail}: make room, or submits are refused soon")
    if health.free_bytes < FREE_BYTES_FEW:
        return Finding("warning", "disk", f"{detail}: make room")
    return Finding("ok", "disk", detail)


def look_at_clock(path: Path | None, now_ms: int) -> Iterator[Finding]:
    """Look whether this machine's clock can be right."""
    if now_ms < EARLIEST_AT:
        yield Finding("problem", "clock", "it was never set: tokens and cookies would not expire")
        return
    newest_at = store_health(path).newest_at if path is not None and path.exists() else 0
    if newest_at > now_ms + CLOCK_SLACK_MS:
        ahead_s = (newest_at - now_ms) // 1000
        detail = f"a conversation of the store was made {ahead_s} s from now: the clock went back"
        yield Finding("warning", "clock", detail)
        return
    yield Finding("ok", "clock", "it is set, and behind nothing in the store")


def look_at_limits() -> Iterator[Finding]:
    """Look whether the system lets a gateway hold as many connections as it would."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        yield Finding("ok", "open files", "no limit")
        return
    connections = max(soft - FILES_OTHERS, 0)
    wanted = HttpSettings().streams_per_caller_max
    detail = f"{soft} allow some {connections} connections"
    if soft < FILES_MIN:
        yield Finding("problem", "open files", f"{detail}: raise it (ulimit -n 65536)")
    elif connections < wanted:
        more = "ulimit -n" if hard == resource.RLIM_INFINITY or hard > wanted else "LimitNOFILE="
        detail += f", and one caller may have {wanted} streams: raise it for many readers ({more})"
        yield Finding("warning", "open files", detail)
    else:
        yield Finding("ok", "open files", detail)


def look_at_proxy(config: Config) -> Iterator[Finding]:
    """Tell what a proxy in front of this gateway has to be told."""
    if not config["trusted_proxies"] and not config["allowed_hosts"]:
        if not is_loopback(config["host"]):
            detail = "without one, tokens travel as plain text: put a proxy with TLS in front"
            yield Finding("warning", "proxy", detail)
        return
    detail = (
        "it must not buffer streams (nginx: proxy_buffering off, proxy_read_timeout 1h); "
        "docs/how-to/nginx.md"
    )
    yield Finding("ok", "proxy", detail)


def look_at_backups(path: Path, folder: Path | None, now_ms: int) -> Iterator[Finding]:
    """Look for copies of the store, beside it or in a folder."""
    place = folder if folder is not None else path.parent
    if not place.is_dir():
        yield Finding("problem", "backups", f"{place} is no folder")
        return
    copies = find_copies(place, path)
    if not copies:
        # Where they are, if there are any, nobody said.
        detail = f"none in {place}; blockwire backup FILE makes one, --backups says where they are"
        yield Finding("ok" if folder is None else "problem", "backups", detail)
        return
    newest, made_s = max(copies, key=lambda copy: copy[1])
    age_s = max(now_ms / 1000 - made_s, 0)
    detail = f"the newest of {len(copies)} in {place} is {newest.name}, {age_s / 3600:.0f} h old"
    yield Finding("warning" if age_s > BACKUP_AGE_S_MAX else "ok", "backups", detail)


def _mib(count: int) -> str:
    return f"{count / MIB:.1f} MiB"
