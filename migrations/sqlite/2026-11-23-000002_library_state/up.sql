-- Whether the library may be used. open: yes; moving: it is being copied to `peer`; moved: it was copied there; receiving: it
-- is being copied here from `peer`. transfer is the same in both stores. An open library has it if it was copied here.
CREATE TABLE library_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    phase TEXT NOT NULL CHECK (phase IN ('open', 'moving', 'moved', 'receiving')),
    transfer TEXT,
    peer TEXT,
    began_at_ms INTEGER,
    CHECK ((transfer IS NULL) = (peer IS NULL)),
    CHECK ((transfer IS NULL) = (began_at_ms IS NULL)),
    CHECK (phase = 'open' OR transfer IS NOT NULL)
) STRICT;

INSERT INTO library_state (id, phase) VALUES (1, 'open');
