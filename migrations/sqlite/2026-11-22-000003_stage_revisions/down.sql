ALTER TABLE stages DROP COLUMN revision;
