-- A preview of a few bytes (ThumbHash); null until the image is indexed by a decoder that makes it.
ALTER TABLE images ADD COLUMN thumbhash BYTEA CHECK (length(thumbhash) BETWEEN 5 AND 25);

-- The live images of each month in UTC. Every change of an image updates them, so that the timeline counts nothing.
CREATE TABLE timeline_months (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    -- yyyymm
    month BIGINT NOT NULL,
    photos BIGINT NOT NULL,
    -- The sum of the ratios of width to height in thousandths, each limited to 400 to 2600.
    ratio_sum BIGINT NOT NULL,
    PRIMARY KEY (account_id, month)
);

INSERT INTO timeline_months (account_id, month, photos, ratio_sum)
SELECT account_id, CAST(to_char(to_timestamp((captured_at_ms - ((captured_at_ms % 86400000) + 86400000) % 86400000) / 1000) AT TIME ZONE 'UTC', 'YYYYMM') AS BIGINT) AS month, count(*), CAST(sum(
    CASE WHEN width * 10 < height * 4 THEN 400 WHEN width * 10 > height * 26 THEN 2600 ELSE width * 1000 / height END
) AS BIGINT)
FROM images
WHERE live = TRUE
GROUP BY account_id, CAST(to_char(to_timestamp((captured_at_ms - ((captured_at_ms % 86400000) + 86400000) % 86400000) / 1000) AT TIME ZONE 'UTC', 'YYYYMM') AS BIGINT);
