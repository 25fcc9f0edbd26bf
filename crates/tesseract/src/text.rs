//! Input and output of the text reader.

use std::time::Duration;

/// A grey picture: 8 bits a pixel, 0 is black, rows from top to bottom without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrayImage<'a> {
    /// Pixels per row, 1 to 32,767.
    pub width: u32,
    /// Rows, 1 to 32,767.
    pub height: u32,
    /// Exactly `width * height` bytes.
    pub pixels: &'a [u8],
}

/// The expected arrangement of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageLayout {
    /// A page with columns, headings and pictures.
    Auto,
    Block,
    /// Scattered text, in no particular order.
    Sparse,
}

/// How a picture is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadOptions {
    /// Time limit for recognizing words, in whole milliseconds. Layout analysis, which comes first, is not interrupted.
    pub deadline: Duration,
    /// The expected arrangement of the text.
    pub layout: PageLayout,
    /// Words with a lower confidence (0 to 100) are left out.
    pub min_confidence: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecognizedText {
    /// The lines that have words, in reading order.
    pub lines: Vec<TextLine>,
    /// Whether all words were read. `false` if the deadline or the limit on words was reached.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TextLine {
    /// Its words, at least one.
    pub words: Vec<TextWord>,
    pub begins_paragraph: bool,
}

/// A word with adjacent punctuation.
#[derive(Debug, Clone, PartialEq)]
pub struct TextWord {
    /// At least one character, no white space.
    pub text: String,
    /// Tesseract's confidence, 0 to 100.
    pub confidence: f32,
    pub bounds: BoundingBox,
}

/// A rectangle of a picture, in pixels from the upper left corner.
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
    /// The picture is empty or too large, or the number of bytes does not match its size.
    #[error("a picture of {width} x {height} pixels with {bytes} bytes cannot be read")]
    Size {
        /// Pixels per row.
        width: u32,
        /// Rows.
        height: u32,
        /// The number of bytes given.
        bytes: usize,
    },
    /// Recognition failed.
    #[error("Tesseract cannot read the picture")]
    Refused,
    #[error("Tesseract has not enough memory to read the picture")]
    NoMemory,
}

/// Collects words into lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<TextLine>,
    /// Whether the next word that is kept starts a line. Words before it in that line may have been left out.
    starts_line: bool,
    starts_paragraph: bool,
}

impl Lines {
    pub(crate) fn start_paragraph(&mut self) {
        self.starts_paragraph = true;
    }

    pub(crate) fn start_line(&mut self) {
        self.starts_line = true;
    }

    pub(crate) fn add(&mut self, word: TextWord) {
        match self.lines.last_mut() {
            Some(line) if !self.starts_line && !self.starts_paragraph => line.words.push(word),
            _ => self.lines.push(TextLine { words: vec![word], begins_paragraph: self.starts_paragraph }),
        }
        (self.starts_line, self.starts_paragraph) = (false, false);
    }

    pub(crate) fn finish(self) -> Vec<TextLine> {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_start_with_the_first_kept_word() {
        let mut lines = Lines::default();
        let word =
            |text: &str| TextWord { text: text.into(), confidence: 90.0, bounds: BoundingBox::default() };
        lines.add(word("stray"));
        lines.start_paragraph();
        lines.start_line();
        // The first word of this line is not kept.
        lines.add(word("one"));
        lines.add(word("two"));
        lines.start_line();
        lines.start_line();
        lines.add(word("three"));
        let found: Vec<_> = lines
            .finish()
            .into_iter()
            .map(|line| {
                let words: Vec<_> = line.words.into_iter().map(|word| word.text).collect();
                (words.join(" "), line.begins_paragraph)
            })
            .collect();
        let expect = [("stray", false), ("one two", true), ("three", false)];
        assert_eq!(found, expect.map(|(words, begins)| (words.to_owned(), begins)));
    }
}
