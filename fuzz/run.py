"""``make fuzz``: random and damaged input at everything that reads.

Usage: ``python fuzz/run.py [--minutes M] [--seed S] [--only NAME ...] [--index I]``.
"""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    # Started as a file, Python looks for modules beside it; they belong to the package ``fuzz``.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    sys.exit(importlib.import_module("fuzz.main").main(sys.argv[1:]))
