-- The names of renditions are defined by the program alone. SQLite cannot drop a CHECK, so the table is rebuilt.
CREATE TABLE new_renditions (
    original BLOB NOT NULL CHECK (length(original) = 32),
    name TEXT NOT NULL,
    blob BLOB NOT NULL CHECK (length(blob) = 32),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    PRIMARY KEY (original, name)
) STRICT, WITHOUT ROWID;

INSERT INTO new_renditions (original, name, blob, bytes, width, height)
SELECT original, name, blob, bytes, width, height FROM renditions;

DROP TABLE renditions;
ALTER TABLE new_renditions RENAME TO renditions;
CREATE INDEX renditions_blob ON renditions (blob);
