-- Who may come in. Nothing here is a secret: only hashes of them.

CREATE TABLE tokens (
    name        TEXT PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    scopes      TEXT NOT NULL,                      -- separated by spaces
    created_at  INTEGER NOT NULL,
    tenant      TEXT,
    expires_at  INTEGER,
    revoked_at  INTEGER,
    used_at     INTEGER
) STRICT, WITHOUT ROWID;

-- A token may also come from a file, so there is no reference to one.
CREATE TABLE logins (
    secret_hash TEXT PRIMARY KEY,
    token_hash  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX logins_of_token ON logins (token_hash, created_at);
CREATE INDEX logins_expiring ON logins (expires_at);

CREATE TABLE shares (
    no              INTEGER PRIMARY KEY,
    conversation_no INTEGER NOT NULL REFERENCES conversations (no) ON DELETE CASCADE,
    id              TEXT NOT NULL,
    secret_hash     TEXT NOT NULL UNIQUE,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    UNIQUE (conversation_no, id)
) STRICT;

CREATE INDEX shares_oldest ON shares (conversation_no, no);
