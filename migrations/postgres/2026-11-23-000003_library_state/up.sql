-- Whether the library may be used. open: yes; moving: it is being copied to `peer`; moved: it was copied there; receiving: it
-- is being copied here from `peer`. transfer is the same in both stores. An open library has it if it was copied here.
CREATE TABLE library_state (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    phase TEXT NOT NULL CHECK (phase IN ('open', 'moving', 'moved', 'receiving')),
    transfer TEXT,
    peer TEXT,
    began_at_ms BIGINT,
    CHECK ((transfer IS NULL) = (peer IS NULL)),
    CHECK ((transfer IS NULL) = (began_at_ms IS NULL)),
    CHECK (phase = 'open' OR transfer IS NOT NULL)
);

INSERT INTO library_state (id, phase) VALUES (1, 'open');

-- Fails unless the library is open. It is part of the exchange that begins a write, so it costs no round trip.
CREATE FUNCTION require_open_library() RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM library_state WHERE phase = 'open') THEN
        RAISE EXCEPTION 'the library is closed';
    END IF;
    RETURN TRUE;
END
$$;
