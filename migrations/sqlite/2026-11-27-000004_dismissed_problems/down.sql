DROP INDEX images_waiting;
DROP TABLE dismissed_problems;
