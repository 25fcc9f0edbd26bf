-- A stage extracts data from visible images: recognised text, or embeddings. Its version names the program that does it:
-- a release of Tesseract with its languages, or a vision model.
CREATE TABLE stages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    -- The last version with which all images were processed.
    complete_version TEXT,
    -- Images with a lower number are not queued yet.
    fill_below INTEGER NOT NULL
) STRICT;

CREATE TABLE stage_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    stage_id INTEGER NOT NULL REFERENCES stages (id) ON DELETE CASCADE,
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    not_before_ms INTEGER NOT NULL DEFAULT 0,
    leased_by TEXT,
    leased_until_ms INTEGER,
    UNIQUE (stage_id, image_seq),
    CHECK ((leased_by IS NULL) = (leased_until_ms IS NULL))
) STRICT;

CREATE INDEX stage_jobs_image ON stage_jobs (image_seq);
CREATE INDEX stage_jobs_worker ON stage_jobs (leased_by) WHERE leased_by IS NOT NULL;

-- Images that a stage could not process with its version.
CREATE TABLE stage_failures (
    stage_id INTEGER NOT NULL REFERENCES stages (id) ON DELETE CASCADE,
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    PRIMARY KEY (stage_id, image_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX stage_failures_image ON stage_failures (image_seq);

-- Encoders, which compute vectors from pictures.
CREATE TABLE encoders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- A changed row gets a new id, so that a cache loads only the rows above its highest id. Vectors are little-endian 16-bit
-- floats.
CREATE TABLE image_vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    encoder_id INTEGER NOT NULL REFERENCES encoders (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL,
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    UNIQUE (image_seq, encoder_id)
) STRICT;

CREATE INDEX image_vectors_account ON image_vectors (encoder_id, account_id, id);
