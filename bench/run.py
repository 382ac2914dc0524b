"""``make bench``: every figure as a ratio against its peer, from one run.

Usage: ``python bench/run.py [--only NAME ...] [--quick] [--json FILE]``.
"""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    # Started as a file, Python looks for modules beside it; they belong to the package ``bench``.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    sys.exit(importlib.import_module("bench.main").main(sys.argv[1:]))
