-- Tasks that one process of the installation does at a time. A row stays when its role is released, so that each taking has
-- a higher fencing number than all before.
CREATE TABLE roles (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    fence BIGINT NOT NULL CHECK (fence >= 1),
    -- Null while nobody holds it.
    holder TEXT,
    until_ms BIGINT NOT NULL
);
