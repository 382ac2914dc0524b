-- Retries, what a turn cost, what a conversation came to, titles of nobody's making, forks under way.

ALTER TABLE conversations ADD COLUMN auto_title TEXT;
ALTER TABLE conversations ADD COLUMN totals TEXT NOT NULL DEFAULT '{}';   -- JSON, whole numbers
ALTER TABLE turns ADD COLUMN retry_of TEXT;
ALTER TABLE turns ADD COLUMN cost TEXT;                                   -- JSON

-- Conversations that are being made; an interrupted one is deleted at the next start.
CREATE TABLE hidden_conversations (
    conversation_no INTEGER PRIMARY KEY REFERENCES conversations (no) ON DELETE CASCADE
) STRICT;
