-- Statements of the search index.

-- index_document --
INSERT INTO search_words (rowid, words, strong, scope) VALUES (?, ?, ?, ?);

-- unindex_document --
-- An index without a text needs to be told what it holds.
INSERT INTO search_words (search_words, rowid, words, strong, scope) VALUES ('delete', ?, ?, ?, ?);

-- index_message --
INSERT INTO search_messages (message_no, created_at) VALUES (?, ?);

-- unindex_message --
DELETE FROM search_messages WHERE message_no = ?;

-- clear_index --
INSERT INTO search_words (search_words) VALUES ('delete-all');

-- clear_indexed_messages --
DELETE FROM search_messages;

-- merge_index --
-- Negative: begin to make one segment of all; positive: go on. So many pages at a time.
INSERT INTO search_words (search_words, rank) VALUES ('merge', :pages);

-- load_search_state --
SELECT waiting_no, words_version, purge FROM search_state WHERE id = 1;

-- save_search_state --
UPDATE search_state SET waiting_no = :waiting_no, words_version = :words_version, purge = :purge
WHERE id = 1;

-- count_waiting --
SELECT count(*) FROM messages WHERE no <= (SELECT waiting_no FROM search_state WHERE id = 1);

-- count_all_messages --
SELECT count(*) FROM messages;

-- last_message --
SELECT coalesce(max(no), 0) FROM messages;

-- tenant_of --
SELECT tenant FROM conversations WHERE no = :conversation_no;

-- find_deleted --
SELECT no, tenant FROM conversations WHERE id = :id;

-- list_messages_of --
SELECT no FROM messages WHERE conversation_no = :conversation_no;

-- list_waiting --
SELECT m.no, m.conversation_no, c.tenant, m.message_bytes
FROM messages m JOIN conversations c ON c.no = m.conversation_no
WHERE m.no <= :waiting_no
ORDER BY m.no DESC
LIMIT :limit;

-- list_documents --
SELECT w.rowid
FROM search_words w
CROSS JOIN search_messages s ON s.message_no = w.rowid >> 12
CROSS JOIN messages m ON m.no = s.message_no
CROSS JOIN conversations c ON c.no = m.conversation_no
WHERE w.search_words MATCH :expression AND w.rowid < :before
      AND s.created_at >= :since AND s.created_at < :until
      AND (:tenant IS NULL OR c.tenant = :tenant)
      AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(c.tags) WHERE value = :tag))
      AND c.no NOT IN (SELECT conversation_no FROM hidden_conversations)
ORDER BY w.rowid DESC
LIMIT :limit;

-- load_document --
SELECT c.id, CAST(m.message AS BLOB), m.created_seq, m.finished_seq
FROM messages m JOIN conversations c ON c.no = m.conversation_no
WHERE m.no = :no;

-- find_number --
SELECT c.no FROM conversations c
WHERE c.id = :id AND c.no NOT IN (SELECT conversation_no FROM hidden_conversations);

-- find_message_number --
SELECT m.no FROM conversations c JOIN messages m ON m.conversation_no = c.no
WHERE c.id = :conversation_id AND m.id = :id AND (:tenant IS NULL OR c.tenant = :tenant)
      AND c.no NOT IN (SELECT conversation_no FROM hidden_conversations);

-- count_documents --
SELECT count(*) FROM search_words WHERE search_words MATCH :expression;

-- has_document --
SELECT 1 FROM search_words WHERE search_words MATCH :expression AND rowid = :document;

-- has_indexed_message --
SELECT created_at FROM search_messages WHERE message_no = :no;

-- next_message --
SELECT m.no, m.conversation_no, c.id, c.tenant, CAST(m.message AS BLOB), m.created_seq, m.finished_seq
FROM messages m JOIN conversations c ON c.no = m.conversation_no
WHERE m.no > :no
ORDER BY m.no
LIMIT 1;
