DROP INDEX images_camera;
ALTER TABLE images DROP COLUMN camera;
