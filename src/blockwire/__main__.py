"""Run the command line: ``python -m blockwire`` is ``blockwire``."""

import sys

from blockwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
