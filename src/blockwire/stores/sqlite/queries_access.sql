-- Tokens, logins and share links.

-- insert_token --
INSERT INTO tokens (name, secret_hash, scopes, created_at, tenant, expires_at, revoked_at, used_at)
VALUES (:name, :secret_hash, :scopes, :created_at, :tenant, :expires_at, :revoked_at, :used_at);

-- list_tokens --
SELECT name, secret_hash, scopes, created_at, tenant, expires_at, revoked_at, used_at
FROM tokens
ORDER BY name;

-- load_token --
SELECT name, secret_hash, scopes, created_at, tenant, expires_at, revoked_at, used_at
FROM tokens
WHERE name = :name;

-- revoke_token --
UPDATE tokens SET revoked_at = coalesce(revoked_at, :revoked_at) WHERE name = :name;

-- delete_token --
DELETE FROM tokens WHERE name = :name;

-- touch_token --
UPDATE tokens SET used_at = max(coalesce(used_at, 0), :used_at) WHERE name = :name;

-- insert_login --
INSERT INTO logins (secret_hash, token_hash, created_at, expires_at)
VALUES (:secret_hash, :token_hash, :created_at, :expires_at);

-- load_login --
SELECT secret_hash, token_hash, created_at, expires_at
FROM logins
WHERE secret_hash = :secret_hash;

-- delete_login --
DELETE FROM logins WHERE secret_hash = :secret_hash;

-- delete_logins_of_token --
DELETE FROM logins WHERE token_hash = :token_hash;

-- delete_expired_logins --
DELETE FROM logins WHERE expires_at <= :now;

-- list_surplus_logins --
SELECT secret_hash FROM logins
WHERE token_hash = :token_hash
ORDER BY created_at DESC, secret_hash DESC
LIMIT -1 OFFSET :count_max;

-- insert_share --
INSERT INTO shares (conversation_no, id, secret_hash, created_at, expires_at)
VALUES (:conversation_no, :id, :secret_hash, :created_at, :expires_at);

-- find_conversation_no --
SELECT no FROM conversations WHERE id = :id;

-- count_shares --
SELECT count(*) FROM shares WHERE conversation_no = :conversation_no;

-- delete_expired_shares --
DELETE FROM shares WHERE conversation_no = :conversation_no AND expires_at <= :now;

-- find_share --
SELECT s.id, c.id, s.secret_hash, s.created_at, s.expires_at
FROM shares s JOIN conversations c ON c.no = s.conversation_no
WHERE s.secret_hash = :secret_hash;

-- list_shares --
SELECT s.id, c.id, s.secret_hash, s.created_at, s.expires_at
FROM conversations c JOIN shares s ON s.conversation_no = c.no
WHERE c.id = :conversation_id
ORDER BY s.no;

-- load_share --
SELECT s.id, c.id, s.secret_hash, s.created_at, s.expires_at
FROM conversations c JOIN shares s ON s.conversation_no = c.no
WHERE c.id = :conversation_id AND s.id = :id;

-- delete_share --
DELETE FROM shares WHERE secret_hash = :secret_hash;
