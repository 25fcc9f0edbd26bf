//! What is read, and what comes of it.

use std::time::Duration;

/// A picture to read: 8 bits a pixel, 0 is black, rows from top to bottom without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrayImage<'a> {
    /// Pixels in a row, 1 to 32,767.
    pub width: u32,
    /// Rows, 1 to 32,767.
    pub height: u32,
    /// Exactly `width * height` bytes.
    pub pixels: &'a [u8],
}

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageLayout {
    /// On a page with columns, headings and pictures.
    Auto,
    /// In lines one below the other.
    Block,
    /// Anywhere, in no particular order.
    Sparse,
}

/// How a picture is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadOptions {
    /// After this time no further word is read, in whole milliseconds. Finding the lines, which comes before, is not
    /// cut short.
    pub deadline: Duration,
    /// Where words are looked for.
    pub layout: PageLayout,
    /// Words that Tesseract is less sure of are left out, 0 to 100.
    pub min_confidence: f32,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct RecognizedText {
    /// The lines that have words, in reading order.
    pub lines: Vec<TextLine>,
    /// Whether all was read before the deadline, and there was not too much of it.
    pub complete: bool,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLine {
    /// Its words, at least one.
    pub words: Vec<TextWord>,
    /// Whether a paragraph begins with it.
    pub begins_paragraph: bool,
}

/// A word with the punctuation around it.
#[derive(Debug, Clone, PartialEq)]
pub struct TextWord {
    /// At least one character, none of which is white space.
    pub text: String,
    /// How sure Tesseract is of it, 0 to 100.
    pub confidence: f32,
    /// Where it stands.
    pub bounds: BoundingBox,
}

/// A part of a picture, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BoundingBox {
    /// The first column.
    pub left: u32,
    /// The first row.
    pub top: u32,
    /// The column after the last.
    pub right: u32,
    /// The row after the last.
    pub bottom: u32,
}

/// Why a picture was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It has no pixels, a side that is too long, or not as many bytes as pixels.
    #[error("a picture of {width} x {height} pixels with {bytes} bytes cannot be read")]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// The bytes of its pixels.
        bytes: usize,
    },
    /// Tesseract gives up.
    #[error("Tesseract cannot read the picture")]
    Refused,
    /// There is not enough memory for it.
    #[error("there is not enough memory for it")]
    NoMemory,
}

/// Puts the words into lines as they come.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<TextLine>,
    /// Lines and paragraphs begin with the next word that is kept, although it may not be their first.
    line_begins: bool,
    paragraph_begins: bool,
}

impl Lines {
    pub(crate) fn begin_paragraph(&mut self) {
        self.paragraph_begins = true;
    }

    pub(crate) fn begin_line(&mut self) {
        self.line_begins = true;
    }

    pub(crate) fn add(&mut self, word: TextWord) {
        match self.lines.last_mut() {
            Some(line) if !self.line_begins && !self.paragraph_begins => line.words.push(word),
            _ => self.lines.push(TextLine { words: vec![word], begins_paragraph: self.paragraph_begins }),
        }
        (self.line_begins, self.paragraph_begins) = (false, false);
    }

    pub(crate) fn finish(self) -> Vec<TextLine> {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_with_the_words_that_are_kept() {
        let mut lines = Lines::default();
        let word =
            |text: &str| TextWord { text: text.into(), confidence: 90.0, bounds: BoundingBox::default() };
        lines.add(word("stray"));
        lines.begin_paragraph();
        lines.begin_line();
        // The first word of that line is not kept.
        lines.add(word("one"));
        lines.add(word("two"));
        lines.begin_line();
        lines.begin_line();
        lines.add(word("three"));
        let told: Vec<_> = lines
            .finish()
            .into_iter()
            .map(|line| {
                let words: Vec<_> = line.words.into_iter().map(|word| word.text).collect();
                (words.join(" "), line.begins_paragraph)
            })
            .collect();
        let expect = [("stray", false), ("one two", true), ("three", false)];
        assert_eq!(told, expect.map(|(words, begins)| (words.to_owned(), begins)));
    }
}
