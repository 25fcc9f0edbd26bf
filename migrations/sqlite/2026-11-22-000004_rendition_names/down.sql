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

-- The blobs of the other renditions are removed like any unreferenced blob.
UPDATE blobs SET state = 'pending', since_ms = 0
WHERE kind = 'rendition' AND state = 'kept'
    AND hash IN (SELECT blob FROM renditions)
    AND hash NOT IN (SELECT blob FROM new_renditions);

DROP TABLE renditions;
ALTER TABLE new_renditions RENAME TO renditions;
CREATE INDEX renditions_blob ON renditions (blob);
