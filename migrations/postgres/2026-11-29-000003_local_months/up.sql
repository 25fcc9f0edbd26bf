-- The timeline is in the order of the clocks where images were taken: first their time, then their offset from UTC. An image without
-- an offset counts as one in UTC. Capture times are unique in an account, and so are these numbers.
CREATE INDEX images_local ON images (
    account_id,
    live,
    ((captured_at_ms + coalesce(capture_offset_min, 0) * 60000) * 4096 + coalesce(capture_offset_min, 0))
);

-- So that the planner knows the expression at once.
ANALYZE images;

-- The months are those of the same clocks, no longer those of UTC.
DELETE FROM timeline_months;
INSERT INTO timeline_months (account_id, month, photos, ratio_sum)
SELECT account_id, month, count(*), CAST(sum(ratio) AS BIGINT)
FROM (
    SELECT i.account_id AS account_id,
        CASE WHEN (i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000) < -62135596800000 THEN 101
            WHEN (i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000) > 253402300799999 THEN 999912
            ELSE CAST(to_char(to_timestamp(((i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000) - (((i.captured_at_ms + coalesce(i.capture_offset_min, 0) * 60000) % 86400000) + 86400000) % 86400000) / 1000) AT TIME ZONE 'UTC', 'YYYYMM') AS BIGINT) END AS month,
        CASE WHEN i.width * 10 < i.height * 4 THEN 400 WHEN i.width * 10 > i.height * 26 THEN 2600 ELSE i.width * 1000 / i.height END AS ratio
    FROM images AS i
    WHERE i.live = TRUE AND NOT EXISTS (SELECT 1 FROM image_marks AS m WHERE m.image_seq = i.seq AND m.archived)
) AS counted
GROUP BY account_id, month;
