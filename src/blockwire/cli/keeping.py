"""What a configuration says about keeping a store small.

Spec: docs/reference/configuration.md.
"""

from __future__ import annotations

from typing import Any, Final

from blockwire.cli.settings import Config
from blockwire.cli.settingtable import DAY_S, KEEP_DAYS_MAX
from blockwire.errors import LocalProtocolError

__all__ = ["upkeep_settings"]

MIB: Final = 1_048_576
HOUR_S: Final = 3_600

_BOUNDS: Final = ("keep_days", "keep_conversation_mib", "keep_total_mib", "keep_pairs_days")


def upkeep_settings(config: Config) -> dict[str, Any]:
    """Return the members of :class:`~blockwire.gateway.GatewaySettings` that keep a store small.

    Raises:
        LocalProtocolError: ``invalid_config`` for bounds that nobody would enforce.
    """
    if config["upkeep_s"] == 0:
        for name in _BOUNDS:
            if config[name]:
                raise LocalProtocolError(
                    "invalid_config",
                    f"{name} needs upkeep, which upkeep_s = 0 turns off: set it to some seconds",
                )
    return {
        "upkeep_interval_s": float(config["upkeep_s"]),
        "keep_events_s": float(config["keep_days"] * DAY_S),
        "keep_conversation_bytes": config["keep_conversation_mib"] * MIB,
        "keep_total_bytes": config["keep_total_mib"] * MIB,
        "attachment_bytes_max": config["attachment_mib"] * MIB,
        "attachments_tenant_bytes_max": config["attachments_tenant_mib"] * MIB,
        "attachments_bytes_max": config["attachments_mib"] * MIB,
        "attachment_unnamed_s_max": float(
            config["keep_unnamed_hours"] * HOUR_S or KEEP_DAYS_MAX * DAY_S
        ),
        "keep_pairs_s": float(config["keep_pairs_days"] * DAY_S),
    }
