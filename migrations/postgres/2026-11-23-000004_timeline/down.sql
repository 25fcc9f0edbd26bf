DROP TABLE timeline_months;
ALTER TABLE images DROP COLUMN thumbhash;
