ALTER TABLE albums ADD COLUMN oldest_first INTEGER NOT NULL DEFAULT 0 CHECK (oldest_first IN (0, 1));
-- The image that was chosen as the cover. It is the cover while it is a visible image of the album; otherwise the newest
-- image is. A purged image leaves its number behind, which no other image gets.
ALTER TABLE albums ADD COLUMN cover_seq INTEGER;

-- The trash and the problems of an account, in the order of their pages.
CREATE INDEX images_trash ON images (account_id, deleted_at_ms, seq) WHERE deleted_at_ms IS NOT NULL;
CREATE INDEX images_problems ON images (account_id, seq) WHERE state = 'failed';
