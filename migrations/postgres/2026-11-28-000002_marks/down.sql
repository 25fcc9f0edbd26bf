DROP INDEX images_place;

DELETE FROM image_edits WHERE NOT description_edited AND NOT place_edited AND time_edited IS NULL;
ALTER TABLE image_edits
    DROP COLUMN marks_edited,
    DROP COLUMN file_marks,
    ADD COLUMN time_edit TEXT COLLATE "C",
    ADD COLUMN last_edit TEXT COLLATE "C",
    ADD COLUMN previous TEXT,
    ADD CHECK ((last_edit IS NULL) = (previous IS NULL));
CREATE INDEX image_edits_last ON image_edits (last_edit) WHERE last_edit IS NOT NULL;

DROP TABLE edited_images;
DROP TABLE edits;
DROP TABLE image_facets;
DROP TABLE facets;
DROP TABLE image_marks;
