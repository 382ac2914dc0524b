"""Every number of the terminal protocol, and how they hang together.

Spec: docs/spec/terminal/framing.md, docs/spec/terminal/json.md.
"""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSION: Final = 1
"""The version of the messages that is spoken here."""

FRAMING_VERSION: Final = 1
"""The second field of a frame."""

INT32_MAX: Final = 2_147_483_647
"""Of a protocol version and of a frame id."""

OSC_NUMBER: Final = 9002
"""Provisional, until terminals agree on one. Of the code only `conform`, which may not see this, spells it too."""

# docs/spec/terminal/framing.md, "Bounds".
FRAGMENT_BYTES: Final = 3_072
FRAME_ID_MAX: Final = INT32_MAX
FRAMES_MAX: Final = 342
INDEX_MAX: Final = FRAMES_MAX - 1
MESSAGE_BYTES_MAX: Final = 1_048_576
OSC_CONTENT_BYTES_MAX: Final = 4_120
"""Between the introducer and the terminator."""

INPUT_HOLD_S: Final = 0.05
"""How long the input side of an application holds a byte that may begin a frame."""

# docs/spec/terminal/json.md.
DEPTH_MAX: Final = 64
SCALAR_COUNT_MAX: Final = 9_007_199_254_740_991

assert FRAGMENT_BYTES % 3 == 0, "a full fragment is encoded without padding"
assert (FRAMES_MAX - 1) * FRAGMENT_BYTES < MESSAGE_BYTES_MAX <= FRAMES_MAX * FRAGMENT_BYTES, (
    "the longest message needs every frame"
)
assert len(f"{OSC_NUMBER};1;{FRAME_ID_MAX};{INDEX_MAX};1;") + FRAGMENT_BYTES // 3 * 4 <= (
    OSC_CONTENT_BYTES_MAX
), "a full frame fits"
