-- Merged deltas, logs that were trimmed, and what is due.

-- Whether a frame of the row stands for several events.
ALTER TABLE log ADD COLUMN is_merged INTEGER NOT NULL DEFAULT 0;

-- Beside each merged delta: which events it stands for, and the length of each in Unicode scalar
-- values as variable-length integers (7 bits a byte, the lowest first). NULL when nobody keeps them
-- any more; ts is not before the delta's stamp.
CREATE TABLE merges (
    conversation_no INTEGER NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    last_seq        INTEGER NOT NULL,
    first_seq       INTEGER NOT NULL,
    ts              INTEGER NOT NULL,
    lengths         BLOB,
    PRIMARY KEY (conversation_no, last_seq)
) STRICT;

CREATE INDEX merges_by_age ON merges (ts) WHERE lengths IS NOT NULL;

-- How a log is kept small. Up to settled_seq its rows are final, and hold settled_bytes; log_bytes is
-- what the whole log held when it was looked at last. Events up to expired_seq have left it. oldest_ts
-- is a stamp before which nothing more of it can leave, NULL when nothing can before a turn ends.
CREATE TABLE upkeep (
    conversation_no INTEGER PRIMARY KEY REFERENCES conversations (no) ON DELETE CASCADE,
    is_due          INTEGER NOT NULL,                -- something can be merged
    settled_seq     INTEGER NOT NULL DEFAULT 0,
    settled_bytes   INTEGER NOT NULL DEFAULT 0,
    log_bytes       INTEGER NOT NULL DEFAULT 0,
    expired_seq     INTEGER NOT NULL DEFAULT 0,
    is_trimming     INTEGER NOT NULL DEFAULT 0,      -- rows before that are still there
    oldest_ts       INTEGER
) STRICT;

CREATE INDEX upkeep_due ON upkeep (conversation_no) WHERE is_due = 1;
CREATE INDEX upkeep_trimming ON upkeep (conversation_no) WHERE is_trimming = 1;
CREATE INDEX upkeep_oldest ON upkeep (oldest_ts) WHERE oldest_ts IS NOT NULL;
CREATE INDEX upkeep_largest ON upkeep (log_bytes) WHERE oldest_ts IS NOT NULL;

-- The sum of all log_bytes, kept by triggers.
CREATE TABLE log_usage (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    log_bytes INTEGER NOT NULL
) STRICT;

INSERT INTO log_usage VALUES (1, 0);

CREATE TRIGGER upkeep_changes AFTER UPDATE OF log_bytes ON upkeep BEGIN
    UPDATE log_usage SET log_bytes = log_bytes + NEW.log_bytes - OLD.log_bytes;
END;

CREATE TRIGGER upkeep_goes AFTER DELETE ON upkeep BEGIN
    UPDATE log_usage SET log_bytes = log_bytes - OLD.log_bytes;
END;

-- Which unfinished turns hold back the beginning of a log.
CREATE INDEX turns_unfinished_of ON turns (conversation_no, first_seq)
    WHERE status IN ('running', 'suspended');

-- What an older release wrote is looked at like what comes.
INSERT INTO upkeep (conversation_no, is_due, oldest_ts)
SELECT no, 1, created_at FROM conversations
WHERE EXISTS (SELECT 1 FROM log WHERE conversation_no = conversations.no);
