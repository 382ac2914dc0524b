-- Every statement of the SQLite store. A name between dashes starts one; queries.py reads them.

-- insert_conversation --
INSERT INTO conversations (id, created_at, updated_at, title, tags, tenant, system, metadata,
                           auto_title, totals)
VALUES (:id, :created_at, :updated_at, :title, :tags, :tenant, :system, :metadata, :auto_title,
        :totals);

-- has_conversation --
SELECT 1 FROM conversations WHERE id = :id;

-- load_conversation --
SELECT c.id, c.created_at, max(c.updated_at, coalesce(l.ts, 0)), coalesce(l.last_seq, 0),
       coalesce(l.public_seq, 0), c.title, c.tags, c.tenant, c.system, c.metadata,
       c.auto_title, c.totals
FROM conversations c
LEFT JOIN log l ON l.conversation_no = c.no
     AND l.last_seq = (SELECT max(last_seq) FROM log WHERE conversation_no = c.no)
WHERE c.id = :id AND c.no NOT IN (SELECT conversation_no FROM hidden_conversations);

-- load_any_conversation --
-- Also one that is hidden.
SELECT c.id, c.created_at, max(c.updated_at, coalesce(l.ts, 0)), coalesce(l.last_seq, 0),
       coalesce(l.public_seq, 0), c.title, c.tags, c.tenant, c.system, c.metadata,
       c.auto_title, c.totals
FROM conversations c
LEFT JOIN log l ON l.conversation_no = c.no
     AND l.last_seq = (SELECT max(last_seq) FROM log WHERE conversation_no = c.no)
WHERE c.no = :no;

-- update_conversation --
UPDATE conversations
SET title = :title, tags = :tags, system = :system, metadata = :metadata,
    updated_at = max(updated_at, :updated_at)
WHERE id = :id;

-- touch_conversation --
-- For an append without events.
UPDATE conversations SET updated_at = max(updated_at, :updated_at) WHERE no = :conversation_no;

-- list_conversations --
SELECT c.id, c.created_at, max(c.updated_at, coalesce(l.ts, 0)), coalesce(l.last_seq, 0),
       coalesce(l.public_seq, 0), c.title, c.tags, c.tenant, c.system, c.metadata,
       c.auto_title, c.totals
FROM conversations c
LEFT JOIN log l ON l.conversation_no = c.no
     AND l.last_seq = (SELECT max(last_seq) FROM log WHERE conversation_no = c.no)
WHERE (c.created_at, c.id) < (:created_at, :id)
      AND c.no NOT IN (SELECT conversation_no FROM hidden_conversations)
ORDER BY c.created_at DESC, c.id DESC
LIMIT :limit;

-- list_conversations_of_tenant --
SELECT c.id, c.created_at, max(c.updated_at, coalesce(l.ts, 0)), coalesce(l.last_seq, 0),
       coalesce(l.public_seq, 0), c.title, c.tags, c.tenant, c.system, c.metadata,
       c.auto_title, c.totals
FROM conversations c
LEFT JOIN log l ON l.conversation_no = c.no
     AND l.last_seq = (SELECT max(last_seq) FROM log WHERE conversation_no = c.no)
WHERE c.tenant = :tenant AND (c.created_at, c.id) < (:created_at, :id)
      AND c.no NOT IN (SELECT conversation_no FROM hidden_conversations)
ORDER BY c.created_at DESC, c.id DESC
LIMIT :limit;

-- delete_conversation --
-- Log, segments, turns and messages go with it (ON DELETE CASCADE).
DELETE FROM conversations WHERE id = :id;

-- load_head --
SELECT c.no, coalesce(l.last_seq, 0), coalesce(l.public_seq, 0),
       max(c.updated_at, coalesce(l.ts, 0)), coalesce(s.joined_seq, 0),
       coalesce(u.expired_seq, 0), coalesce(u.is_due, 0)
FROM conversations c
LEFT JOIN log l ON l.conversation_no = c.no
     AND l.last_seq = (SELECT max(last_seq) FROM log WHERE conversation_no = c.no)
LEFT JOIN segments s ON s.conversation_no = c.no
LEFT JOIN upkeep u ON u.conversation_no = c.no
WHERE c.id = :id;

-- count_loose --
-- Rows behind the last full segment, as far as it matters.
SELECT count(*) FROM (
    SELECT 1 FROM log WHERE conversation_no = :conversation_no AND last_seq > :joined_seq
    LIMIT :limit
);

-- insert_log --
INSERT INTO log (conversation_no, last_seq, first_seq, public_seq, ts, owner, public)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- read_log_owner --
SELECT last_seq, first_seq, owner, 0, is_merged FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq;

-- read_log_public --
SELECT last_seq, first_seq, coalesce(public, owner), public IS NOT NULL, is_merged FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq;

-- read_log_rows --
SELECT last_seq, first_seq, owner, public, is_merged FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq
LIMIT :limit;

-- list_due --
SELECT c.id FROM segments s JOIN conversations c ON c.no = s.conversation_no
WHERE s.is_due = 1
LIMIT :limit;

-- save_segments --
INSERT INTO segments (conversation_no, joined_seq, is_due)
VALUES (:conversation_no, :joined_seq, :is_due)
ON CONFLICT (conversation_no)
DO UPDATE SET joined_seq = excluded.joined_seq, is_due = excluded.is_due;

-- delete_joined --
DELETE FROM log
WHERE conversation_no = :conversation_no AND last_seq >= :first_row AND last_seq < :last_row;

-- extend_joined --
UPDATE log SET first_seq = :first_seq, owner = :owner, public = :public, is_merged = :is_merged
WHERE conversation_no = :conversation_no AND last_seq = :last_seq;

-- insert_turn --
INSERT INTO turns (conversation_no, id, status, engine, created_at, request_message_id, started_at,
                   completed_at, model, provider, usage, error, finish_reason, reason, first_seq,
                   last_seq, idempotency_key, body_hash, epoch, producer_seq, request, options,
                   retry_of, cost)
VALUES (:conversation_no, :id, :status, :engine, :created_at, :request_message_id, :started_at,
        :completed_at, :model, :provider, :usage, :error, :finish_reason, :reason, :first_seq,
        :last_seq, :idempotency_key, :body_hash, :epoch, :producer_seq, :request, :options,
        :retry_of, :cost);

-- replace_turn --
UPDATE turns
SET status = :status, engine = :engine, created_at = :created_at,
    request_message_id = :request_message_id, started_at = :started_at,
    completed_at = :completed_at, model = :model, provider = :provider, usage = :usage,
    error = :error, finish_reason = :finish_reason, reason = :reason, first_seq = :first_seq,
    last_seq = :last_seq, idempotency_key = :idempotency_key, body_hash = :body_hash,
    epoch = :epoch, producer_seq = :producer_seq, request = :request, options = :options,
    retry_of = :retry_of, cost = :cost
WHERE conversation_no = :conversation_no AND id = :id;

-- advance_turn --
-- What nearly every append changes.
UPDATE turns SET last_seq = ?, producer_seq = ? WHERE conversation_no = ? AND id = ?;

-- load_turn --
SELECT t.id, c.id AS conversation_id, t.status, t.engine, t.created_at, t.request_message_id,
       t.started_at, t.completed_at, t.model, t.provider, t.usage, t.error, t.finish_reason,
       t.reason, t.first_seq, t.last_seq, t.idempotency_key, t.body_hash, t.epoch, t.producer_seq,
       t.request, t.options, t.retry_of, t.cost
FROM conversations c JOIN turns t ON t.conversation_no = c.no
WHERE c.id = :conversation_id AND t.id = :id;

-- find_turn_by_key --
SELECT t.id, c.id AS conversation_id, t.status, t.engine, t.created_at, t.request_message_id,
       t.started_at, t.completed_at, t.model, t.provider, t.usage, t.error, t.finish_reason,
       t.reason, t.first_seq, t.last_seq, t.idempotency_key, t.body_hash, t.epoch, t.producer_seq,
       t.request, t.options, t.retry_of, t.cost
FROM conversations c JOIN turns t ON t.conversation_no = c.no
WHERE c.id = :conversation_id AND t.idempotency_key = :key;

-- find_key_owner --
SELECT id FROM turns WHERE conversation_no = :conversation_no AND idempotency_key = :key;

-- list_turns --
SELECT t.id, c.id AS conversation_id, t.status, t.engine, t.created_at, t.request_message_id,
       t.started_at, t.completed_at, t.model, t.provider, t.usage, t.error, t.finish_reason,
       t.reason, t.first_seq, t.last_seq, t.idempotency_key, t.body_hash, t.epoch, t.producer_seq,
       t.request, t.options, t.retry_of, t.cost, t.no
FROM conversations c JOIN turns t ON t.conversation_no = c.no
WHERE c.id = :conversation_id AND t.no < :before
ORDER BY t.no DESC
LIMIT :limit;

-- list_unfinished_turns --
SELECT t.id, c.id AS conversation_id, t.status, t.engine, t.created_at, t.request_message_id,
       t.started_at, t.completed_at, t.model, t.provider, t.usage, t.error, t.finish_reason,
       t.reason, t.first_seq, t.last_seq, t.idempotency_key, t.body_hash, t.epoch, t.producer_seq,
       t.request, t.options, t.retry_of, t.cost
FROM turns t JOIN conversations c ON c.no = t.conversation_no
WHERE t.status IN ('running', 'suspended')
ORDER BY t.no;

-- insert_message --
INSERT INTO messages (conversation_no, id, created_seq, finished_seq, message_bytes, message)
VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT));

-- has_message --
SELECT 1 FROM messages WHERE conversation_no = :conversation_no AND id = :id;

-- load_message --
SELECT CAST(m.message AS BLOB), m.created_seq, m.finished_seq
FROM conversations c JOIN messages m ON m.conversation_no = c.no
WHERE c.id = :conversation_id AND m.id = :id;

-- size_messages_before --
-- What a page of messages would hold: their sizes, without reading them.
SELECT m.no, m.message_bytes
FROM conversations c JOIN messages m ON m.conversation_no = c.no
WHERE c.id = :conversation_id AND m.created_seq < :before AND m.finished_seq <= :up_to
ORDER BY m.created_seq DESC
LIMIT :limit;

-- size_messages_after --
SELECT m.no, m.message_bytes
FROM conversations c JOIN messages m ON m.conversation_no = c.no
WHERE c.id = :conversation_id AND m.created_seq > :after AND m.created_seq < :before
      AND m.finished_seq <= :up_to
ORDER BY m.created_seq
LIMIT :limit;

-- read_message --
SELECT CAST(message AS BLOB), created_seq, finished_seq FROM messages WHERE no = :no;

-- ping --
UPDATE pings SET count = count + 1;

-- count_conversations --
-- How many there are, for those who want to know how far a check is.
SELECT count(*) FROM conversations;

-- next_conversation --
SELECT no, id FROM conversations WHERE no > :no ORDER BY no LIMIT 1;
