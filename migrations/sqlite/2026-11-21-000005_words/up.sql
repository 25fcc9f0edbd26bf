-- What is written about images, as folded words. Each account has a vocabulary of its own, and the postings name its
-- words by their numbers, so that no search of one account meets another's.
DROP TABLE image_text;

CREATE TABLE words (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    word TEXT NOT NULL,
    -- How many images of the account have it; one that none has is removed.
    images INTEGER NOT NULL CHECK (images >= 0),
    -- How many have it in place or file name.
    context INTEGER NOT NULL CHECK (context >= 0),
    UNIQUE (account_id, word)
) STRICT;

-- Of all words that begin alike the common ones are looked at first.
CREATE INDEX words_common ON words (account_id, word) WHERE images >= 16;

-- The stems of words, other than the words themselves.
CREATE TABLE word_stems (
    account_id INTEGER NOT NULL,
    stem TEXT NOT NULL,
    word_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, stem, word_id)
) STRICT, WITHOUT ROWID;

-- The images whose words are in the index. key is the row of image_words: the keys of an account's images are in the
-- order of their capture times. words holds the numbers of the words, which are what the index has to forget.
CREATE TABLE indexed_words (
    image_seq INTEGER PRIMARY KEY REFERENCES images (seq),
    key INTEGER NOT NULL UNIQUE,
    words BLOB NOT NULL
) STRICT;

-- Of each image the numbers of its words in base 36: after c those of description and OCR text, after x those of place
-- and file name.
CREATE VIRTUAL TABLE image_words USING fts5 (
    words,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = 'ascii'
);

-- Images up to indexed_to have the words that `version` finds; those up to until have older ones or none, later ones
-- came with their words. The stems of words up to stale_to are to be made again.
CREATE TABLE word_index (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    indexed_to INTEGER NOT NULL,
    until INTEGER NOT NULL,
    stale_to INTEGER NOT NULL
) STRICT;

INSERT INTO word_index (id, version, indexed_to, until, stale_to) VALUES (1, 0, 0, 0, 0);
