ALTER TABLE albums ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0 CHECK (by_hand IN (0, 1));

-- The position in the order that the owner of the album has made. Images beside each other have positions with room
-- between them. Zero: the image has no position yet.
ALTER TABLE album_images ADD COLUMN position INTEGER NOT NULL DEFAULT 0;

CREATE INDEX album_images_position ON album_images (album_seq, position, live, captured_at_ms);
