-- The marks of images that have any, as JSON: favorite, rating, keywords, archived.
CREATE TABLE image_marks (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq) ON DELETE CASCADE,
    marks TEXT NOT NULL,
    -- Copies for queries: whether it is archived, and the keywords separated by commas.
    archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
    keywords TEXT
) STRICT;

-- What lists are filtered by: that an image is a favourite or archived (with an empty key), or has a keyword, and the names of
-- places and cameras that images have.
CREATE TABLE facets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    -- The form in which equal names are equal.
    key TEXT NOT NULL,
    name TEXT NOT NULL,
    -- The name as searches compare it: each part folded and followed by a tab. NULL for a facet without a name, for a camera, and until
    -- upkeep has folded the name.
    folded TEXT,
    UNIQUE (account_id, kind, key)
) STRICT;

CREATE INDEX facets_folded ON facets (account_id, kind, folded) WHERE folded IS NOT NULL;

CREATE TABLE image_facets (
    facet_id INTEGER NOT NULL REFERENCES facets (id) ON DELETE CASCADE,
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    captured_at_ms INTEGER NOT NULL,
    live INTEGER NOT NULL CHECK (live IN (0, 1)),
    PRIMARY KEY (facet_id, image_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX image_facets_timeline ON image_facets (facet_id, live, captured_at_ms);
CREATE INDEX image_facets_image ON image_facets (image_seq);

-- A correction of one or many images at once.
CREATE TABLE edits (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    -- The app or key that made it; NULL for the person.
    author TEXT,
    -- The names of the corrected fields, separated by commas.
    fields TEXT NOT NULL,
    UNIQUE (account_id, id)
) STRICT;

CREATE INDEX edits_age ON edits (at_ms);
CREATE INDEX edits_of_account ON edits (account_id, at_ms, seq);

-- What a correction changed of an image, as JSON, until it is undone.
CREATE TABLE edited_images (
    edit_seq INTEGER NOT NULL REFERENCES edits (seq) ON DELETE CASCADE,
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    changes TEXT NOT NULL,
    PRIMARY KEY (edit_seq, image_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX edited_images_image ON edited_images (image_seq);

-- Edits from before this migration can no longer be undone, but fields can be set back to the values in the file.
CREATE TABLE new_image_edits (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq) ON DELETE CASCADE,
    description_edited INTEGER NOT NULL CHECK (description_edited IN (0, 1)),
    place_edited INTEGER NOT NULL CHECK (place_edited IN (0, 1)),
    -- own: people corrected the time; place: it has the zone of a corrected position.
    time_edited TEXT CHECK (time_edited IN ('own', 'place')),
    -- The names of the marks that people set, separated by commas.
    marks_edited TEXT NOT NULL,
    file_description TEXT,
    file_latitude REAL CHECK (file_latitude BETWEEN -90 AND 90),
    file_longitude REAL CHECK (file_longitude BETWEEN -180 AND 180),
    file_place TEXT,
    file_captured_at_ms INTEGER NOT NULL,
    file_capture_wall TEXT,
    file_capture_offset_min INTEGER,
    file_marks TEXT NOT NULL,
    CHECK ((file_latitude IS NULL) = (file_longitude IS NULL))
) STRICT;

INSERT INTO new_image_edits
SELECT image_seq, description_edited, place_edited, time_edited, '', file_description, file_latitude, file_longitude,
    file_place, file_captured_at_ms, file_capture_wall, file_capture_offset_min, '{}'
FROM image_edits
WHERE description_edited OR place_edited OR time_edited IS NOT NULL;

DROP TABLE image_edits;
ALTER TABLE new_image_edits RENAME TO image_edits;

-- The camera is often a further condition of filters.
CREATE INDEX images_place ON images (account_id, live, place, captured_at_ms, camera) WHERE place IS NOT NULL;

INSERT INTO facets (account_id, kind, key, name)
SELECT DISTINCT account_id, 'place', place, place FROM images WHERE place IS NOT NULL;
INSERT INTO facets (account_id, kind, key, name)
SELECT DISTINCT account_id, 'camera', camera, camera FROM images WHERE camera IS NOT NULL;
