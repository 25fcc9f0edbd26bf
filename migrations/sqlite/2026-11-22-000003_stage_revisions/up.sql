-- The program's revision of the stage. It only increases: a program with a lower revision does not change the stage.
ALTER TABLE stages ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 0);
