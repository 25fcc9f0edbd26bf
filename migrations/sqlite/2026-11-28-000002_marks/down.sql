DROP INDEX images_place;

CREATE TABLE old_image_edits (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq) ON DELETE CASCADE,
    description_edited INTEGER NOT NULL CHECK (description_edited IN (0, 1)),
    place_edited INTEGER NOT NULL CHECK (place_edited IN (0, 1)),
    time_edited TEXT CHECK (time_edited IN ('own', 'place')),
    time_edit TEXT,
    last_edit TEXT,
    previous TEXT,
    file_description TEXT,
    file_latitude REAL CHECK (file_latitude BETWEEN -90 AND 90),
    file_longitude REAL CHECK (file_longitude BETWEEN -180 AND 180),
    file_place TEXT,
    file_captured_at_ms INTEGER NOT NULL,
    file_capture_wall TEXT,
    file_capture_offset_min INTEGER,
    CHECK ((last_edit IS NULL) = (previous IS NULL)),
    CHECK ((file_latitude IS NULL) = (file_longitude IS NULL))
) STRICT;

INSERT INTO old_image_edits
SELECT image_seq, description_edited, place_edited, time_edited, NULL, NULL, NULL, file_description, file_latitude,
    file_longitude, file_place, file_captured_at_ms, file_capture_wall, file_capture_offset_min
FROM image_edits
WHERE description_edited OR place_edited OR time_edited IS NOT NULL;

DROP TABLE image_edits;
ALTER TABLE old_image_edits RENAME TO image_edits;
CREATE INDEX image_edits_last ON image_edits (last_edit) WHERE last_edit IS NOT NULL;

DROP TABLE edited_images;
DROP TABLE edits;
DROP TABLE image_facets;
DROP TABLE facets;
DROP TABLE image_marks;
