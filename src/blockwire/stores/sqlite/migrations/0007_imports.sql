-- Conversations that came out of an archive which was sent with an idempotency key.

CREATE TABLE imports (
    conversation_no INTEGER PRIMARY KEY REFERENCES conversations (no) ON DELETE CASCADE,
    tenant          TEXT,
    idempotency_key TEXT NOT NULL,
    place           INTEGER NOT NULL,
    body_hash       TEXT NOT NULL,
    result          TEXT NOT NULL                    -- JSON
) STRICT;

CREATE INDEX imports_by_key ON imports (idempotency_key, place);
