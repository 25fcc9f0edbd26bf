-- The grants whose apps may edit the details of photos.
CREATE TABLE grant_edits (
    grant_id TEXT NOT NULL PRIMARY KEY REFERENCES oauth_grants (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
