-- Statements of attachments.py and what the ledger does with attachments.

-- find_attachment --
SELECT 1 FROM attachments WHERE id = :id;

-- tenant_of_conversation --
SELECT no, tenant FROM conversations WHERE id = :id;

-- insert_blob --
INSERT INTO blobs (sha256, size_bytes) VALUES (NULL, 0);

-- insert_chunk --
INSERT INTO blob_chunks (blob_no, chunk_no, data) VALUES (:blob_no, :chunk_no, :data);

-- resize_blob --
UPDATE blobs SET size_bytes = size_bytes + :more_bytes WHERE no = :blob_no;

-- find_blob --
SELECT no FROM blobs WHERE sha256 = :digest;

-- seal_blob --
UPDATE blobs SET sha256 = :digest WHERE no = :blob_no;

-- insert_attachment --
INSERT INTO attachments (id, blob_no, conversation_no, tenant, name, media_type, size_bytes,
                         created_at, is_named)
VALUES (:id, :blob_no, :conversation_no, :tenant, :name, :media_type, :size_bytes, :created_at,
        EXISTS (SELECT 1 FROM attachment_names n JOIN conversations c ON c.no = n.conversation_no
                WHERE n.attachment_id = :id AND c.tenant IS :tenant));

-- measure_attachments --
SELECT coalesce((SELECT size_bytes FROM attachment_usage
                 WHERE scope = coalesce('of ' || :tenant, 'none')), 0),
       coalesce((SELECT size_bytes FROM attachment_usage WHERE scope = 'total'), 0);

-- load_attachment_owner --
SELECT a.id, a.name, a.media_type, a.size_bytes, b.sha256, a.created_at, a.tenant
FROM attachments a JOIN blobs b ON b.no = a.blob_no
WHERE a.id = :id;

-- load_attachment_public --
SELECT a.id, a.name, a.media_type, a.size_bytes, b.sha256, a.created_at, a.tenant
FROM attachments a JOIN blobs b ON b.no = a.blob_no
WHERE a.id = :id
  AND EXISTS (SELECT 1 FROM attachment_names n JOIN conversations c ON c.no = n.conversation_no
              WHERE n.attachment_id = a.id AND n.is_public = 1 AND c.tenant IS a.tenant);

-- load_attachment_held --
-- As the holder's view sees it; public_only leaves out what is named privately, or not at all.
SELECT a.id, a.name, a.media_type, a.size_bytes, b.sha256, a.created_at, a.tenant
FROM attachments a JOIN blobs b ON b.no = a.blob_no
     JOIN conversations c ON c.id = :conversation_id AND c.tenant IS a.tenant
WHERE a.id = :id
  AND (EXISTS (SELECT 1 FROM attachment_names n
               WHERE n.attachment_id = a.id AND n.conversation_no = c.no
                 AND n.is_public >= :public_only)
       OR (a.conversation_no = c.no AND :public_only = 0));

-- list_holders --
-- Perhaps one twice.
SELECT c.id
FROM attachments a JOIN attachment_names n ON n.attachment_id = a.id
     JOIN conversations c ON c.no = n.conversation_no AND c.tenant IS a.tenant
WHERE a.id = :id
UNION ALL
SELECT c.id FROM attachments a JOIN conversations c ON c.no = a.conversation_no
WHERE a.id = :id;

-- list_attachments --
-- Perhaps one twice.
SELECT a.id, a.name, a.media_type, a.size_bytes, b.sha256, a.created_at, a.tenant
FROM conversations c JOIN attachment_names n ON n.conversation_no = c.no
     JOIN attachments a ON a.id = n.attachment_id AND a.tenant IS c.tenant
     JOIN blobs b ON b.no = a.blob_no
WHERE c.id = :conversation_id
UNION ALL
SELECT a.id, a.name, a.media_type, a.size_bytes, b.sha256, a.created_at, a.tenant
FROM conversations c JOIN attachments a ON a.conversation_no = c.no
     JOIN blobs b ON b.no = a.blob_no
WHERE c.id = :conversation_id;

-- find_content --
SELECT blob_no, size_bytes FROM attachments WHERE id = :id;

-- read_chunk --
SELECT data FROM blob_chunks WHERE blob_no = :blob_no AND chunk_no = :chunk_no;

-- hold_attachment --
INSERT INTO attachment_names (attachment_id, conversation_no, is_public)
VALUES (:id, :conversation_no, :is_public)
ON CONFLICT (attachment_id, conversation_no)
DO UPDATE SET is_public = excluded.is_public WHERE excluded.is_public > is_public;

-- name_attachment --
UPDATE attachments SET is_named = 1
WHERE id = :id AND is_named = 0
  AND tenant IS (SELECT tenant FROM conversations WHERE no = :conversation_no);

-- list_held --
-- What a conversation is about to let go of; perhaps one twice.
SELECT a.no FROM conversations c JOIN attachment_names n ON n.conversation_no = c.no
     JOIN attachments a ON a.id = n.attachment_id AND a.tenant IS c.tenant
WHERE c.id = :conversation_id
UNION ALL
SELECT a.no FROM attachments a JOIN conversations c ON c.no = a.conversation_no
WHERE c.id = :conversation_id;

-- find_hold --
SELECT 1
FROM attachments a JOIN attachment_names n ON n.attachment_id = a.id
     JOIN conversations c ON c.no = n.conversation_no AND c.tenant IS a.tenant
WHERE a.no = :no LIMIT 1;

-- unname_attachment --
UPDATE attachments SET is_named = 0 WHERE no = :no AND conversation_no IS NOT NULL;

-- load_attachment_blob --
SELECT blob_no FROM attachments WHERE no = :no;

-- find_unnamed --
SELECT 1 FROM attachments WHERE no = :no AND is_named = 0;

-- delete_attachment --
DELETE FROM attachments WHERE no = :no;

-- abandon_blob --
-- Its chunks go later, a few at a time.
UPDATE blobs SET sha256 = NULL
WHERE no = :blob_no AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.blob_no = blobs.no);

-- list_unnamed --
SELECT no FROM attachments
WHERE is_named = 0 AND created_at < :created_before
ORDER BY created_at, id
LIMIT :limit;

-- list_abandoned --
-- After a start, when nothing is being uploaded.
SELECT no FROM blobs WHERE sha256 IS NULL;

-- find_abandoned --
SELECT 1 FROM blobs WHERE no = :blob_no AND sha256 IS NULL;

-- list_chunks --
SELECT chunk_no, length(data) FROM blob_chunks WHERE blob_no = :blob_no
ORDER BY chunk_no DESC LIMIT :limit;

-- delete_chunk --
DELETE FROM blob_chunks WHERE blob_no = :blob_no AND chunk_no = :chunk_no;

-- delete_blob --
DELETE FROM blobs WHERE no = :blob_no;

-- next_blob --
SELECT b.no, b.sha256, b.size_bytes, (SELECT count(*) FROM attachments a WHERE a.blob_no = b.no)
FROM blobs b WHERE b.no > :no ORDER BY b.no LIMIT 1;

-- read_chunks --
SELECT chunk_no, data FROM blob_chunks WHERE blob_no = :blob_no ORDER BY chunk_no;

-- next_attachment --
SELECT a.no, a.id, coalesce('of ' || a.tenant, 'none'), a.size_bytes,
       a.size_bytes <> b.size_bytes, a.is_named,
       (SELECT count(*) FROM attachment_names n JOIN conversations c ON c.no = n.conversation_no
        WHERE n.attachment_id = a.id AND c.tenant IS a.tenant),
       a.conversation_no IS NOT NULL
FROM attachments a JOIN blobs b ON b.no = a.blob_no
WHERE a.no > :no ORDER BY a.no LIMIT 1;

-- list_usage --
SELECT scope, size_bytes FROM attachment_usage;

-- next_naming_message --
-- Both members that name attachments have the word in their name.
SELECT m.no, m.conversation_no, c.id, CAST(m.message AS BLOB), m.created_seq, m.finished_seq
FROM messages m JOIN conversations c ON c.no = m.conversation_no
WHERE m.no > :no AND instr(m.message, '"attachment') > 0
ORDER BY m.no LIMIT 1;

-- load_hold --
SELECT is_public FROM attachment_names
WHERE attachment_id = :id AND conversation_no = :conversation_no;

-- find_home --
SELECT 1 FROM attachments WHERE id = :id AND conversation_no = :conversation_no;
