DROP TABLE rendition_jobs;
DROP INDEX images_read_by;
CREATE INDEX images_pending ON images (account_id) WHERE state = 'pending';
DROP INDEX index_jobs_order;
-- Before this migration only an image that waits to be seen had a job.
DELETE FROM index_jobs WHERE priority > 0;
ALTER TABLE index_jobs DROP COLUMN priority;
DROP TABLE sidecars;
