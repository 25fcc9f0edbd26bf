DROP INDEX images_local;

DELETE FROM timeline_months;
INSERT INTO timeline_months (account_id, month, photos, ratio_sum)
SELECT account_id, month, count(*), CAST(sum(ratio) AS INTEGER)
FROM (
    SELECT i.account_id AS account_id,
        CAST(strftime('%Y%m', (i.captured_at_ms - ((i.captured_at_ms % 86400000) + 86400000) % 86400000) / 1000, 'unixepoch') AS INTEGER) AS month,
        CASE WHEN i.width * 10 < i.height * 4 THEN 400 WHEN i.width * 10 > i.height * 26 THEN 2600 ELSE i.width * 1000 / i.height END AS ratio
    FROM images AS i
    WHERE i.live = TRUE AND NOT EXISTS (SELECT 1 FROM image_marks AS m WHERE m.image_seq = i.seq AND m.archived)
) AS counted
GROUP BY account_id, month;
