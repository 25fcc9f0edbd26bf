-- The live images with a position. A code is the position on the map (see the module `map` of the crate `domain`).
CREATE TABLE map_points (
    image_seq INTEGER NOT NULL PRIMARY KEY REFERENCES images (seq),
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    code INTEGER NOT NULL CHECK (code >= 0),
    captured_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX map_points_code ON map_points (account_id, code, captured_at_ms);
CREATE INDEX map_points_time ON map_points (account_id, captured_at_ms, code);

-- The sums of the squares of the map that have at least 64 points. For other squares the points are read.
CREATE TABLE map_cells (
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    cell INTEGER NOT NULL CHECK (cell >= 1),
    photos INTEGER NOT NULL CHECK (photos >= 0),
    newest_ms INTEGER NOT NULL,
    x_sum INTEGER NOT NULL,
    y_sum INTEGER NOT NULL,
    PRIMARY KEY (account_id, cell)
) STRICT, WITHOUT ROWID;

-- Images below this number may not be in the map yet, because they are older than these tables.
CREATE TABLE map_fill (below_seq INTEGER NOT NULL) STRICT;
INSERT INTO map_fill (below_seq) SELECT coalesce(max(seq), -1) + 1 FROM images;
