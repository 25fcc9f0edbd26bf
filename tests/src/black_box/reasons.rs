use std::{cmp::Reverse, collections::BTreeMap};

/// Why files were refused or damaged, each reason with its files. Numbers in a reason do not tell it from another.
#[derive(Debug, Clone, Default)]
pub struct Reasons {
    files: BTreeMap<String, Vec<String>>,
}

impl Reasons {
    /// Adds a file with its reason.
    pub fn add(&mut self, reason: &str, file: String) {
        self.files.entry(without_numbers(reason)).or_default().push(file);
    }

    /// How many files have a reason.
    pub fn count(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Prints the commonest reasons, at most so many, with their files, at most so many of each.
    pub fn print(&self, title: &str, max_reasons: usize, max_files: usize) {
        println!("\n{title}: {} files, {} reasons", self.count(), self.files.len());
        let mut reasons: Vec<_> = self.files.iter().collect();
        reasons.sort_by_key(|(_, files)| Reverse(files.len()));
        for (reason, files) in reasons.into_iter().take(max_reasons) {
            println!("{:>6}  {reason}", files.len());
            for file in files.iter().take(max_files) {
                println!("          {file}");
            }
        }
    }
}

/// The same words with `#` for each number, decimal or hexadecimal.
fn without_numbers(reason: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_number = bare.starts_with(|c: char| c.is_ascii_digit());
        if is_number { word.replacen(bare, "#", 1) } else { word.to_owned() }
    };
    reason.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_make_reasons() {
        for (reason, expect) in [
            ("no numbers, none", "no numbers, none"),
            ("Corrupt data: 14 bytes before marker 0xe0", "Corrupt data: # bytes before marker #"),
            ("Invalid bit depth 0.", "Invalid bit depth #."),
            ("a size of (12x34), too large", "a size of (#), too large"),
            ("JPEG2000 is not read", "JPEG2000 is not read"),
            ("", ""),
        ] {
            assert_eq!(without_numbers(reason), expect);
        }
        let mut reasons = Reasons::default();
        reasons.add("row 1", "a".into());
        reasons.add("row 2", "b".into());
        assert_eq!((reasons.count(), reasons.files.len()), (2, 1));
    }
}
