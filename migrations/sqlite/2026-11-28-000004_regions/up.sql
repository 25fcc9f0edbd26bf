-- Images have their region and their country as facets. The countries are in the names of the places; upkeep adds the regions, from
-- the positions, which takes longer, and folds the names. Images below this number may lack those of this version of the bundled data.
CREATE TABLE region_fill (version INTEGER NOT NULL, below_seq INTEGER NOT NULL) STRICT;
INSERT INTO region_fill (version, below_seq) SELECT CASE WHEN max(seq) IS NULL THEN 1 ELSE 0 END, coalesce(max(seq), -1) + 1 FROM images;

INSERT INTO facets (account_id, kind, key, name)
SELECT DISTINCT account_id, 'region', substr(place, instr(place, ', ') + 2), substr(place, instr(place, ', ') + 2)
FROM images WHERE captured_at_ms IS NOT NULL AND instr(place, ', ') > 0;

INSERT INTO image_facets (facet_id, image_seq, captured_at_ms, live)
SELECT f.id, i.seq, i.captured_at_ms, i.live
FROM images AS i JOIN facets AS f ON f.account_id = i.account_id AND f.kind = 'region' AND f.key = substr(i.place, instr(i.place, ', ') + 2)
WHERE i.captured_at_ms IS NOT NULL AND instr(i.place, ', ') > 0;
