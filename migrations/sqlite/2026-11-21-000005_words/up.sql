-- The folded words in the texts of images. Each account has its own vocabulary, and postings refer to words by number,
-- so that a search never scans the words of another account.
DROP TABLE image_text;

CREATE TABLE words (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    word TEXT NOT NULL,
    -- Number of the account's images with the word. A word without images is deleted.
    images INTEGER NOT NULL CHECK (images >= 0),
    -- Number of images that have it in place or file name.
    context INTEGER NOT NULL CHECK (context >= 0),
    UNIQUE (account_id, word)
) STRICT;

-- Finds the frequent words with a prefix first.
CREATE INDEX words_common ON words (account_id, word) WHERE images >= 16;

-- The stems of words that differ from the word.
CREATE TABLE word_stems (
    account_id INTEGER NOT NULL,
    stem TEXT NOT NULL,
    word_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, stem, word_id)
) STRICT, WITHOUT ROWID;

-- The images whose words are in the index. key is the row in image_words; the keys of an account are in the order of
-- capture times. words has the numbers of the words, which are needed to remove the image from the index.
CREATE TABLE indexed_words (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq),
    key INTEGER NOT NULL UNIQUE,
    words BLOB NOT NULL
) STRICT;

-- The numbers of each image's words in base 36, with the prefix c for description and OCR text, and x for place and
-- file name.
CREATE VIRTUAL TABLE image_words USING fts5 (
    words,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'ascii'
);

-- Images up to indexed_to were indexed by `version`. Images up to until have older words or none; later images are
-- indexed when they are added. The stems of words up to stale_to must be computed again.
CREATE TABLE word_index (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    indexed_to INTEGER NOT NULL,
    until INTEGER NOT NULL,
    stale_to INTEGER NOT NULL
) STRICT;

INSERT INTO word_index (id, version, indexed_to, until, stale_to) VALUES (1, 0, 0, 0, 0);
