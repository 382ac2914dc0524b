-- The words of visible blocks, without their text. A document is one block of one finished message; its
-- number is that of the message times 4096 plus that of the block. The words come folded, so that the
-- tokenizer has nothing to decide. strong has those that a block is about, scope what it is filtered by.
CREATE VIRTUAL TABLE search_words USING fts5 (
    words, strong, scope, content = '', columnsize = 0, tokenize = "ascii tokenchars '_'"
);

-- Messages that are in it.
CREATE TABLE search_messages (
    message_no INTEGER PRIMARY KEY REFERENCES messages (no) ON DELETE CASCADE,
    created_at INTEGER NOT NULL
) STRICT;

-- Messages up to waiting_no are not in the index yet. words_version says how it was made; another one
-- is made anew. purge is 1 while deleted words are to be removed from the file, 2 while that is under way.
CREATE TABLE search_state (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    waiting_no    INTEGER NOT NULL,
    words_version TEXT NOT NULL,
    purge         INTEGER NOT NULL
) STRICT;

INSERT INTO search_state VALUES (1, 0, '', 0);
