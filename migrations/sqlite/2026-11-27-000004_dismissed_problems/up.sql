-- Images whose failure their owner has dismissed, until they fail for another reason.
CREATE TABLE dismissed_problems (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq) ON DELETE CASCADE,
    failure TEXT NOT NULL
) STRICT;

-- Open pages count the photos of their account that are being read, every two seconds.
CREATE INDEX images_waiting ON images (account_id, state, deleted_at_ms) WHERE state = 'pending' AND deleted_at_ms IS NULL;
