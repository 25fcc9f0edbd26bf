-- The live images with a position. A code is the position on the map (see the module `map` of the crate `domain`).
CREATE TABLE map_points (
    image_seq BIGINT NOT NULL PRIMARY KEY REFERENCES images (seq),
    account_id BIGINT NOT NULL REFERENCES accounts (id),
    code BIGINT NOT NULL CHECK (code >= 0),
    captured_at_ms BIGINT NOT NULL
);

CREATE INDEX map_points_code ON map_points (account_id, code, captured_at_ms) INCLUDE (image_seq);
CREATE INDEX map_points_time ON map_points (account_id, captured_at_ms, code) INCLUDE (image_seq);

-- The sums of the squares of the map that have at least 64 points. For other squares the points are read.
CREATE TABLE map_cells (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    cell BIGINT NOT NULL CHECK (cell >= 1),
    photos BIGINT NOT NULL CHECK (photos >= 0),
    newest_ms BIGINT NOT NULL,
    x_sum BIGINT NOT NULL,
    y_sum BIGINT NOT NULL,
    PRIMARY KEY (account_id, cell)
);

-- Images below this number may not be in the map yet, because they are older than these tables.
CREATE TABLE map_fill (below_seq BIGINT NOT NULL);
INSERT INTO map_fill (below_seq) SELECT coalesce(max(seq), -1) + 1 FROM images;
