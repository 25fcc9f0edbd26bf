DROP TABLE map_fill;
DROP TABLE map_cells;
DROP TABLE map_points;
