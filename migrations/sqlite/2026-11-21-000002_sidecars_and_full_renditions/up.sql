-- The files beside a photo that describe it, unchanged.
CREATE TABLE sidecars (
    image_seq INTEGER NOT NULL REFERENCES images (seq) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('xmp', 'takeout')),
    content BLOB NOT NULL,
    PRIMARY KEY (image_seq, kind)
) STRICT;

-- Jobs with a lower number are leased first. 0: the image is not visible yet; 1: it is visible and has a new sidecar;
-- 2: it is visible and was decoded by older decoders.
ALTER TABLE index_jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 2);

CREATE INDEX index_jobs_order ON index_jobs (priority);
CREATE INDEX images_read_by ON images (decoder_version) WHERE state = 'ready';
-- It found the jobs of deleted accounts, which are now found through the queue.
DROP INDEX images_pending;

-- Originals that have a live image and no full rendition yet.
CREATE TABLE rendition_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    original BLOB NOT NULL UNIQUE CHECK (length(original) = 32),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    not_before_ms INTEGER NOT NULL DEFAULT 0,
    leased_by TEXT,
    leased_until_ms INTEGER,
    CHECK ((leased_by IS NULL) = (leased_until_ms IS NULL))
) STRICT;

CREATE INDEX rendition_jobs_worker ON rendition_jobs (leased_by) WHERE leased_by IS NOT NULL;

INSERT INTO rendition_jobs (original)
SELECT images.original
FROM images JOIN accounts ON accounts.id = images.account_id
WHERE images.live = 1 AND accounts.deleted_at_ms IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM renditions
        WHERE renditions.original = images.original AND renditions.name = 'webp-full'
    )
GROUP BY images.original
ORDER BY max(images.seq);
