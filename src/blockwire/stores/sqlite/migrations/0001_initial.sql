-- The first schema. A conversation has a number, so that keys of the log stay small.

CREATE TABLE conversations (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,                    -- apart from appends
    title      TEXT,
    tags       TEXT NOT NULL,                       -- JSON
    tenant     TEXT,
    system     TEXT,
    metadata   TEXT                                 -- JSON
) STRICT;

CREATE INDEX conversations_newest ON conversations (created_at, id);
CREATE INDEX conversations_newest_of_tenant ON conversations (tenant, created_at, id)
    WHERE tenant IS NOT NULL;

-- The log. A row holds the frames of the events first_seq to last_seq, joined, as they go over the
-- wire to owner views; public is what public views get, NULL where it is the same. The last row of a
-- conversation is also its head: public_seq is the last event so far that public views get, ts the
-- latest stamp. So an append writes here and nowhere else.
CREATE TABLE log (
    conversation_no INTEGER NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    last_seq        INTEGER NOT NULL,
    first_seq       INTEGER NOT NULL,
    public_seq      INTEGER NOT NULL,
    ts              INTEGER NOT NULL,
    owner           BLOB NOT NULL,
    public          BLOB,
    PRIMARY KEY (conversation_no, last_seq)
) STRICT;

-- How far the small rows of a log have been joined to segments, and where that is due.
CREATE TABLE segments (
    conversation_no INTEGER PRIMARY KEY REFERENCES conversations (no) ON DELETE CASCADE,
    joined_seq      INTEGER NOT NULL,
    is_due          INTEGER NOT NULL
) STRICT;

CREATE INDEX segments_due ON segments (conversation_no) WHERE is_due = 1;

CREATE TABLE turns (
    no                 INTEGER PRIMARY KEY,
    conversation_no    INTEGER NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    id                 TEXT NOT NULL,
    status             TEXT NOT NULL,
    engine             TEXT NOT NULL,
    created_at         INTEGER NOT NULL,
    request_message_id TEXT NOT NULL,
    started_at         INTEGER,
    completed_at       INTEGER,
    model              TEXT,
    provider           TEXT,
    usage              TEXT,                        -- JSON
    error              TEXT,                        -- JSON
    finish_reason      TEXT,
    reason             TEXT,
    first_seq          INTEGER NOT NULL,
    last_seq           INTEGER NOT NULL,
    idempotency_key    TEXT,
    body_hash          TEXT,
    epoch              INTEGER NOT NULL,
    producer_seq       INTEGER NOT NULL,
    request            TEXT,                        -- JSON
    options            TEXT,                        -- JSON
    UNIQUE (conversation_no, id)
) STRICT;

CREATE INDEX turns_newest ON turns (conversation_no, no);
CREATE UNIQUE INDEX turns_by_key ON turns (conversation_no, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX turns_unfinished ON turns (no) WHERE status IN ('running', 'suspended');

CREATE TABLE messages (
    no              INTEGER PRIMARY KEY,
    conversation_no INTEGER NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    id              TEXT NOT NULL,
    created_seq     INTEGER NOT NULL,
    finished_seq    INTEGER NOT NULL,
    message_bytes   INTEGER NOT NULL,
    message         TEXT NOT NULL,                  -- JSON, owner's
    UNIQUE (conversation_no, id),
    UNIQUE (conversation_no, created_seq)
) STRICT;

-- Written by ping, so that it proves that a commit is possible.
CREATE TABLE pings (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL
) STRICT;

INSERT INTO pings VALUES (1, 0);
