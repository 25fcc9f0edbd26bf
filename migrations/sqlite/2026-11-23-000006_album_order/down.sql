DROP INDEX images_problems;
DROP INDEX images_trash;
ALTER TABLE albums DROP COLUMN cover_seq;
ALTER TABLE albums DROP COLUMN oldest_first;
