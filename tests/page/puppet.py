"""An agent whose words a test says: what comes on a socket goes to standard output, and back.

Run as ``python puppet.py PORT`` by the engine ``command``. The first line to the test is the request.
"""

import os
import socket
import sys
import threading


def _answers(line: socket.socket) -> None:
    # Standard input holds the request, then an answer a line.
    while text := sys.stdin.buffer.readline():
        line.sendall(text)


def main() -> None:
    """Relay until the test hangs up."""
    line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    threading.Thread(target=_answers, args=(line,), daemon=True).start()
    while piece := line.recv(65_536):
        os.write(sys.stdout.fileno(), piece)
    # The other thread may be inside of a read; nothing is left to flush.
    os._exit(0)


if __name__ == "__main__":
    main()
