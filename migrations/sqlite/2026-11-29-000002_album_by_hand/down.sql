DROP INDEX album_images_position;
ALTER TABLE album_images DROP COLUMN position;
ALTER TABLE albums DROP COLUMN by_hand;
