-- Retries, what a turn cost, what a conversation came to, titles of nobody's making, forks under way.

ALTER TABLE conversations ADD COLUMN auto_title TEXT;
ALTER TABLE conversations ADD COLUMN totals TEXT NOT NULL DEFAULT '{}';   -- JSON, whole numbers
ALTER TABLE turns ADD COLUMN retry_of TEXT;
ALTER TABLE turns ADD COLUMN cost TEXT;                                   -- JSON

-- What the turns came to that had ended before anybody counted.
UPDATE conversations SET totals = (
    SELECT json_group_object(name, total) FROM (
        SELECT 'turns' AS name, count(*) AS total FROM turns t
        WHERE t.conversation_no = conversations.no
          AND t.status IN ('completed', 'failed', 'cancelled', 'interrupted')
        UNION ALL
        SELECT * FROM (
            SELECT u.key, CAST(min(total(u.value), 9007199254740991) AS INTEGER)
            FROM turns t, json_each(t.usage) u
            WHERE t.conversation_no = conversations.no AND u.type = 'integer' AND u.key <> 'turns'
              AND u.value BETWEEN 0 AND 9007199254740991
              AND t.status IN ('completed', 'failed', 'cancelled', 'interrupted')
            GROUP BY u.key ORDER BY u.key LIMIT 63
        )
    )
) WHERE EXISTS (SELECT 1 FROM turns t WHERE t.conversation_no = conversations.no
                AND t.status IN ('completed', 'failed', 'cancelled', 'interrupted'));

-- Conversations that are being made; an interrupted one is deleted at the next start.
CREATE TABLE hidden_conversations (
    conversation_no INTEGER PRIMARY KEY REFERENCES conversations (no) ON DELETE CASCADE
) STRICT;
