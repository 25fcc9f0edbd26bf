DROP TABLE image_edits;
