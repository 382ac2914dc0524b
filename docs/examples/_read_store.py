"""Read a store without blockwire: every event of every conversation, in order."""

import json
import sqlite3
import sys

LOG = """
    SELECT c.id, l.owner
    FROM log AS l JOIN conversations AS c ON c.no = l.conversation_no
    ORDER BY l.conversation_no, l.last_seq
"""

connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for conversation_id, frames in connection.execute(LOG):
    for frame in frames.decode().split("\n\n")[:-1]:
        lines = frame.split("\n")
        data = "\n".join(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
        event = json.loads(data)  # noqa: TID251 - this is what others do
        print(conversation_id, event["seq"], event["type"])
