-- The number of the program's part in a stage. It only goes up: a program with a lower number leaves the stage alone.
ALTER TABLE stages ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 0);
