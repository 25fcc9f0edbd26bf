//! Finds places by their other names, in the packed table. `data/README.md` describes its format.

/// The other names of cities, regions and countries, folded and sorted, in blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtherNames<'a> {
    /// The offset of each block. The first name of a block is stored whole.
    pub(crate) blocks: &'a [[u8; 3]],
    pub(crate) entries: &'a [u8],
}

impl<'a> OtherNames<'a> {
    /// The numbers of the places that a folded name names.
    pub(crate) fn named(self, name: &str) -> impl Iterator<Item = usize> + use<'a> {
        let name = name.as_bytes().to_vec();
        // The names before the last block that begins with a smaller name are smaller, too.
        let block =
            self.blocks.partition_point(|block| self.first_of(*block).is_some_and(|first| *first < *name));
        let block = self.blocks.get(block.saturating_sub(1)).copied().unwrap_or_default();
        let entries = self.entries.get(offset(block)..).unwrap_or_default();
        let (mut entries, mut current) = (Entries(entries), Vec::new());
        std::iter::from_fn(move || {
            loop {
                let (shared, rest, number) = entries.next()?;
                current.truncate(shared);
                current.extend_from_slice(rest);
                match current.cmp(&name) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => return Some(number),
                    std::cmp::Ordering::Greater => return None,
                }
            }
        })
    }

    fn first_of(self, block: [u8; 3]) -> Option<&'a [u8]> {
        Entries(self.entries.get(offset(block)..)?).next().map(|(_, name, _)| name)
    }
}

fn offset([low, middle, high]: [u8; 3]) -> usize {
    usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16
}

/// Each name as the number of bytes that it shares with the name before, its other bytes, and the number of its place.
struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = (usize, &'a [u8], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let ([shared, length], rest) = self.0.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (number, rest) = rest.split_first_chunk()?;
        self.0 = rest;
        Some((usize::from(*shared), name, offset(*number)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::table::Table;

    /// All names in their order, with the numbers of their places.
    fn all(names: OtherNames<'_>) -> Vec<(String, usize)> {
        let mut current = Vec::new();
        let whole = |(shared, rest, number): (usize, &[u8], usize)| {
            current.truncate(shared);
            current.extend_from_slice(rest);
            (String::from_utf8(current.clone()).unwrap(), number)
        };
        Entries(names.entries).map(whole).collect()
    }

    #[test]
    fn every_bundled_name_is_folded_and_found() {
        let table = Table::read(crate::CITIES).unwrap();
        let all = all(table.other_names);
        assert!(all.len() > 100_000);
        assert!(all.is_sorted());
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (name, number) in &all {
            assert!(table.path(*number).is_some(), "{name}");
            by_name.entry(name).or_default().push(*number);
        }
        for (name, numbers) in by_name {
            assert_eq!(words::fold(name), name);
            assert_eq!(table.other_names.named(name).collect::<Vec<_>>(), numbers, "{name}");
        }
        for missing in ["", "a", "zzzzzz", "lisbo", "龘"] {
            assert_eq!(table.other_names.named(missing).count(), 0, "{missing}");
        }
    }
}
