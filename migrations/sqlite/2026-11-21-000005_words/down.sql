DROP TABLE word_index;
DROP TABLE image_words;
DROP TABLE indexed_words;
DROP TABLE word_stems;
DROP TABLE words;

CREATE VIRTUAL TABLE image_text USING fts5 (
    description, ocr_text, place, file_name,
    content = 'images',
    content_rowid = 'seq',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

INSERT INTO image_text (rowid, description, ocr_text, place, file_name)
SELECT seq, description, ocr_text, place, file_name FROM images WHERE state = 'ready';
