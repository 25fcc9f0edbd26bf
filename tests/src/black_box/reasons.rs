use std::{cmp::Reverse, collections::BTreeMap};

/// Files grouped by the reason why they failed or are damaged. Reasons that differ only in numbers are one group.
#[derive(Debug, Clone, Default)]
pub struct Reasons {
    files: BTreeMap<String, Vec<String>>,
}

impl Reasons {
    pub fn add(&mut self, reason: &str, file: String) {
        self.files.entry(without_numbers(reason)).or_default().push(file);
    }

    /// Number of files.
    pub fn count(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }

    /// Prints the most frequent reasons and their files, up to these numbers.
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

/// Replaces each decimal or hexadecimal number by `#`.
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
    fn reasons_are_grouped_without_numbers() {
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
