DROP INDEX files_empty;
DROP INDEX uploads_finished;
