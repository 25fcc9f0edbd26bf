DROP TABLE image_vectors;
DROP TABLE encoders;
DROP TABLE stage_failures;
DROP TABLE stage_jobs;
DROP TABLE stages;
