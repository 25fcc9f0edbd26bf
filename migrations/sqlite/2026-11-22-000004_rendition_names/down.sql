CREATE TABLE new_renditions (
    original BLOB NOT NULL CHECK (length(original) = 32),
    name TEXT NOT NULL CHECK (name IN ('webp-full', 'webp-medium', 'webp-thumb')),
    blob BLOB NOT NULL CHECK (length(blob) = 32),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    width INTEGER NOT NULL CHECK (width > 0),
    height INTEGER NOT NULL CHECK (height > 0),
    PRIMARY KEY (original, name)
) STRICT, WITHOUT ROWID;

-- Renditions of other names belong to a newer program.
INSERT INTO new_renditions (original, name, blob, bytes, width, height)
SELECT original, name, blob, bytes, width, height FROM renditions
WHERE name IN ('webp-full', 'webp-medium', 'webp-thumb');

DROP TABLE renditions;
ALTER TABLE new_renditions RENAME TO renditions;
CREATE INDEX renditions_blob ON renditions (blob);
