-- The lens and the settings of the camera, as JSON.
CREATE TABLE camera_settings (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq) ON DELETE CASCADE,
    settings TEXT NOT NULL
) STRICT;
