ALTER TABLE albums ADD COLUMN by_hand BOOLEAN NOT NULL DEFAULT FALSE;

-- The position in the order that the owner of the album has made. Images beside each other have positions with room
-- between them. Zero: the image has no position yet.
ALTER TABLE album_images ADD COLUMN position BIGINT NOT NULL DEFAULT 0;

CREATE INDEX album_images_position ON album_images (album_seq, position) INCLUDE (live, captured_at_ms, image_seq);
