DELETE FROM image_facets WHERE facet_id IN (SELECT id FROM facets WHERE kind = 'region');
DELETE FROM facets WHERE kind = 'region';
DROP TABLE region_fill;
