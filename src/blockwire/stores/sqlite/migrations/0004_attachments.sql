-- Attachments: their bytes lie beside the log, so that one transaction, one backup and one deletion
-- cover both.

-- One content, however many attachments have it. Without a hash it is being uploaded, or is to be
-- removed; size_bytes is what lies in its chunks. Numbers are not used again, as the ledger remembers
-- which are to be removed.
CREATE TABLE blobs (
    no         INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256     TEXT UNIQUE,
    size_bytes INTEGER NOT NULL
) STRICT;

-- Of 256 KiB each, the last one shorter.
CREATE TABLE blob_chunks (
    blob_no  INTEGER NOT NULL REFERENCES blobs (no),
    chunk_no INTEGER NOT NULL,
    data     BLOB NOT NULL,
    PRIMARY KEY (blob_no, chunk_no)
) STRICT;

-- conversation_no is where it was uploaded, while that is there; tenant is that conversation's.
CREATE TABLE attachments (
    no              INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    blob_no         INTEGER NOT NULL REFERENCES blobs (no),
    conversation_no INTEGER REFERENCES conversations (no) ON DELETE SET NULL,
    tenant          TEXT,
    name            TEXT NOT NULL,
    media_type      TEXT NOT NULL,
    size_bytes      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    is_named        INTEGER NOT NULL                -- by a conversation of the tenant
) STRICT;

CREATE INDEX attachments_of_blob ON attachments (blob_no);
CREATE INDEX attachments_of_conversation ON attachments (conversation_no)
    WHERE conversation_no IS NOT NULL;
CREATE INDEX attachments_unnamed ON attachments (created_at, id) WHERE is_named = 0;

-- Which conversation names which attachment, and whether where the public sees it; also ids that are
-- not there (yet), and those of other tenants, which are of no use to it.
CREATE TABLE attachment_names (
    attachment_id   TEXT NOT NULL,
    conversation_no INTEGER NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    is_public       INTEGER NOT NULL,
    PRIMARY KEY (attachment_id, conversation_no)
) STRICT, WITHOUT ROWID;

CREATE INDEX attachment_names_of_conversation ON attachment_names (conversation_no);

-- Sums, kept by triggers: of all blobs ('total'), and of each tenant's attachments.
CREATE TABLE attachment_usage (
    scope      TEXT PRIMARY KEY,
    size_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER blobs_grow AFTER UPDATE OF size_bytes ON blobs BEGIN
    INSERT INTO attachment_usage VALUES ('total', NEW.size_bytes - OLD.size_bytes)
    ON CONFLICT (scope) DO UPDATE SET size_bytes = size_bytes + excluded.size_bytes;
END;

CREATE TRIGGER attachments_come AFTER INSERT ON attachments BEGIN
    INSERT INTO attachment_usage VALUES (coalesce('of ' || NEW.tenant, 'none'), NEW.size_bytes)
    ON CONFLICT (scope) DO UPDATE SET size_bytes = size_bytes + excluded.size_bytes;
END;

CREATE TRIGGER attachments_go AFTER DELETE ON attachments BEGIN
    UPDATE attachment_usage SET size_bytes = size_bytes - OLD.size_bytes
    WHERE scope = coalesce('of ' || OLD.tenant, 'none');
END;
