-- Statements of conversations that nobody sees yet, and of what is known of a conversation as a whole.

-- hide_conversation --
INSERT INTO hidden_conversations (conversation_no) SELECT no FROM conversations WHERE id = :id;

-- reveal_conversation --
DELETE FROM hidden_conversations
WHERE conversation_no = (SELECT no FROM conversations WHERE id = :id);

-- list_hidden --
SELECT c.id FROM hidden_conversations h CROSS JOIN conversations c ON c.no = h.conversation_no;

-- set_auto_title --
UPDATE conversations SET auto_title = :auto_title
WHERE no = :conversation_no AND auto_title IS NULL;

-- load_totals --
SELECT totals FROM conversations WHERE no = :conversation_no;

-- save_totals --
UPDATE conversations SET totals = :totals WHERE no = :conversation_no;
