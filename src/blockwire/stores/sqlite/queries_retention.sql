-- Merging, trimming, vacuum.

-- make_mergeable --
INSERT INTO upkeep (conversation_no, is_due, oldest_ts) VALUES (:conversation_no, 1, :ts)
ON CONFLICT (conversation_no) DO UPDATE SET is_due = 1;

-- next_mergeable --
SELECT u.conversation_no, c.id
FROM upkeep u JOIN conversations c ON c.no = u.conversation_no
WHERE u.is_due = 1 AND u.conversation_no > :after
ORDER BY u.conversation_no
LIMIT 1;

-- load_upkeep --
SELECT settled_seq, settled_bytes, expired_seq FROM upkeep WHERE conversation_no = :conversation_no;

-- log_start --
SELECT u.expired_seq
FROM conversations c JOIN upkeep u ON u.conversation_no = c.no
WHERE c.id = :id;

-- log_end --
SELECT max(last_seq) FROM log WHERE conversation_no = :conversation_no;

-- scan_log --
SELECT last_seq, owner FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq;

-- read_log_window --
SELECT last_seq, first_seq, public_seq, ts, is_merged, owner, public FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq;

-- size_log_rows --
SELECT last_seq, first_seq, ts, length(owner) + coalesce(length(public), 0) FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq
LIMIT :limit;

-- size_log --
SELECT coalesce(sum(length(owner) + coalesce(length(public), 0)), 0) FROM log
WHERE conversation_no = :conversation_no AND last_seq > :after;

-- delete_log_window --
DELETE FROM log
WHERE conversation_no = :conversation_no AND last_seq >= :first_row AND last_seq <= :last_row;

-- delete_log_rows --
DELETE FROM log WHERE conversation_no = :conversation_no AND last_seq <= :last_row;

-- insert_log_row --
INSERT INTO log (conversation_no, last_seq, first_seq, public_seq, ts, is_merged, owner, public)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- list_runs --
SELECT first_seq, last_seq, lengths FROM merges
WHERE conversation_no = :conversation_no AND last_seq > :after AND last_seq <= :last_seq
ORDER BY last_seq;

-- find_run --
-- The merged delta that holds the number after a cursor, or the next one.
SELECT first_seq, last_seq, lengths FROM merges
WHERE conversation_no = :conversation_no AND last_seq > :after
ORDER BY last_seq
LIMIT 1;

-- insert_run --
INSERT INTO merges (conversation_no, last_seq, first_seq, ts, lengths) VALUES (?, ?, ?, ?, ?);

-- delete_runs --
DELETE FROM merges
WHERE conversation_no = :conversation_no AND last_seq >= :first_seq AND last_seq <= :last_seq;

-- settle_log --
UPDATE upkeep
SET settled_seq = max(settled_seq, :settled_seq), settled_bytes = settled_bytes + :more_bytes
WHERE conversation_no = :conversation_no;

-- skip_settled --
-- Joining begins behind what is settled.
INSERT INTO segments (conversation_no, joined_seq, is_due)
VALUES (:conversation_no, :settled_seq, 0)
ON CONFLICT (conversation_no)
DO UPDATE SET joined_seq = max(joined_seq, excluded.joined_seq);

-- finish_merging --
UPDATE upkeep SET is_due = :is_due, log_bytes = :log_bytes, oldest_ts = :oldest_ts
WHERE conversation_no = :conversation_no;

-- oldest_upkeep --
SELECT u.conversation_no, c.id
FROM upkeep u JOIN conversations c ON c.no = u.conversation_no
WHERE u.oldest_ts < :before
ORDER BY u.oldest_ts
LIMIT 1;

-- largest_upkeep --
SELECT u.conversation_no, c.id, u.log_bytes
FROM upkeep u JOIN conversations c ON c.no = u.conversation_no
WHERE u.oldest_ts IS NOT NULL AND u.log_bytes > :log_bytes
ORDER BY u.log_bytes
LIMIT 1;

-- load_log_usage --
SELECT log_bytes FROM log_usage WHERE id = 1;

-- first_unfinished --
-- Where the first turn that is not over begins; those without events hold nothing back.
SELECT min(first_seq) FROM turns
WHERE conversation_no = :conversation_no AND status IN ('running', 'suspended')
      AND first_seq > 0;

-- messages_across --
-- Messages that began after what has left already, and ended behind a cut.
SELECT min(created_seq), max(finished_seq) FROM messages
WHERE conversation_no = :conversation_no AND created_seq > :after AND created_seq <= :cut
      AND finished_seq > :cut;

-- row_ts --
SELECT ts FROM log WHERE conversation_no = :conversation_no AND last_seq >= :seq
ORDER BY last_seq
LIMIT 1;

-- empty_log_row --
-- The last row is the head of its conversation, also without events.
UPDATE log SET first_seq = last_seq + 1, owner = x'', public = NULL, is_merged = 0
WHERE conversation_no = :conversation_no AND last_seq = :last_seq;

-- trim_log_row --
UPDATE log SET first_seq = :first_seq, owner = :owner, public = :public
WHERE conversation_no = :conversation_no AND last_seq = :last_seq;

-- expire_log --
UPDATE upkeep SET expired_seq = :expired_seq, is_trimming = 1
WHERE conversation_no = :conversation_no;

-- next_trimmed --
SELECT u.conversation_no, c.id
FROM upkeep u JOIN conversations c ON c.no = u.conversation_no
WHERE u.is_trimming = 1
LIMIT 1;

-- save_trimmed --
UPDATE upkeep
SET is_trimming = :is_trimming, settled_seq = :settled_seq, settled_bytes = :settled_bytes,
    log_bytes = :log_bytes, oldest_ts = :oldest_ts
WHERE conversation_no = :conversation_no;

-- postpone_trimming --
UPDATE upkeep SET oldest_ts = :oldest_ts WHERE conversation_no = :conversation_no;

-- drop_lengths --
UPDATE merges SET lengths = NULL
WHERE rowid IN (SELECT rowid FROM merges WHERE lengths IS NOT NULL AND ts < :before
                ORDER BY ts LIMIT :limit);

-- count_runs --
SELECT count(*) FROM merges WHERE conversation_no = :conversation_no AND last_seq > :after;

-- count_messages_after --
SELECT count(*) FROM messages
WHERE conversation_no = :conversation_no AND finished_seq > :after;
