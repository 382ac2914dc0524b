-- Statements of imports.

-- insert_import --
INSERT INTO imports (conversation_no, tenant, idempotency_key, place, body_hash, result)
SELECT no, :tenant, :idempotency_key, :place, :body_hash, :result
FROM conversations WHERE id = :id;

-- find_import --
SELECT c.id, i.body_hash, i.result
FROM imports i JOIN conversations c ON c.no = i.conversation_no
WHERE i.idempotency_key = :idempotency_key AND i.tenant IS :tenant
ORDER BY i.place;
