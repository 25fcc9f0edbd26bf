-- The name of the camera, made of its make and model.
ALTER TABLE images ADD COLUMN camera TEXT COLLATE "C";

-- The model, after the make unless it begins with the make's first word.
UPDATE images SET camera = CASE
    WHEN camera_make IS NULL THEN camera_model
    WHEN camera_model IS NULL THEN camera_make
    WHEN left(lower(camera_model), length(split_part(camera_make, ' ', 1)))
        = lower(split_part(camera_make, ' ', 1)) THEN camera_model
    ELSE camera_make || ' ' || camera_model
END
WHERE state = 'ready' AND (camera_make IS NOT NULL OR camera_model IS NOT NULL);

CREATE INDEX images_camera ON images (account_id, live, camera, captured_at_ms) WHERE camera IS NOT NULL;
