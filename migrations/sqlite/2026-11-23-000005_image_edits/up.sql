-- Images whose fields people corrected. `images` has the corrected values; this table has what file and sidecars say.
CREATE TABLE image_edits (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq) ON DELETE CASCADE,
    description_edited INTEGER NOT NULL CHECK (description_edited IN (0, 1)),
    place_edited INTEGER NOT NULL CHECK (place_edited IN (0, 1)),
    -- own: people corrected the time; place: it has the zone of a corrected position.
    time_edited TEXT CHECK (time_edited IN ('own', 'place')),
    -- The edit that changed the time last.
    time_edit TEXT,
    -- The last edit, and the values that it replaced, as JSON. NULL when it was undone.
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

CREATE INDEX image_edits_last ON image_edits (last_edit) WHERE last_edit IS NOT NULL;
