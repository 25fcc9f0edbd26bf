//! Makes broken photo files from valid ones.
//!
//! [`Mutations`] gives the same files for the same seed and the same valid files on every machine, so a file that caused
//! a failure can be made again from its number. Some damage is random (bits, truncation, blocks). Other damage changes
//! the lengths and sizes in a format, because decoders allocate by them.
//!
//! To add a format, write a walker in `structure` that records its fields and blocks, and call it in [`structure::of`].

mod operations;
mod random;
mod structure;

use std::{fmt, fs, io, path::Path};

use random::Random;

/// Larger fixtures are left out: decoding ten thousand of them would take hours.
const MAX_SOURCE_BYTES: u64 = 300_000;

/// A valid file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The kind of damage to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// Up to eight bits are flipped.
    FewFlips,
    /// About one bit in a thousand is flipped.
    ManyFlips,
    /// The end is missing.
    Truncated,
    /// The file ends at the start of a block, or a few bytes before or after it.
    TruncatedAtBlock,
    /// The start of this file and the end of another.
    Spliced,
    /// A random integer near the start is changed.
    WrongNumber,
    /// A length, count, offset or size of the format is changed.
    WrongField,
    /// A block occurs twice.
    Duplicated,
    /// A block is missing.
    Removed,
    /// A block is all zeros.
    Zeroed,
    /// Random bytes are inserted.
    Inserted,
}

impl Damage {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::FewFlips,
        Self::ManyFlips,
        Self::Truncated,
        Self::TruncatedAtBlock,
        Self::Spliced,
        Self::WrongNumber,
        Self::WrongField,
        Self::Duplicated,
        Self::Removed,
        Self::Zeroed,
        Self::Inserted,
    ];

    /// The name in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FewFlips => "few-flips",
            Self::ManyFlips => "many-flips",
            Self::Truncated => "truncated",
            Self::TruncatedAtBlock => "truncated-at-block",
            Self::Spliced => "spliced",
            Self::WrongNumber => "wrong-number",
            Self::WrongField => "wrong-field",
            Self::Duplicated => "duplicated",
            Self::Removed => "removed",
            Self::Zeroed => "zeroed",
            Self::Inserted => "inserted",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A broken file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutatedFile {
    /// A unique name of number, damage and source file: `00042-truncated-grey.jpg`.
    pub name: String,
    /// The index of its source file.
    pub source: usize,
    /// The first damage. A quarter of all files are damaged twice.
    pub damage: Damage,
    /// Its bytes, which differ from the source file.
    pub bytes: Vec<u8>,
}

/// An endless series of broken files. Each depends only on its number.
#[derive(Debug, Clone)]
pub struct Mutations {
    seed: u64,
    corpus: Vec<SourceFile>,
    /// The indexes of the files of each format.
    formats: Vec<Vec<usize>>,
}

impl Mutations {
    /// The series of a seed, made from these valid files.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(seed: u64, corpus: Vec<SourceFile>) -> Self {
        assert!(!corpus.is_empty(), "broken files need at least one source file");
        let mut formats: Vec<(structure::Kind, Vec<usize>)> = Vec::new();
        for (place, file) in corpus.iter().enumerate() {
            let kind = structure::Kind::of(&file.bytes);
            match formats.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, places)) => places.push(place),
                None => formats.push((kind, vec![place])),
            }
        }
        Self { seed, corpus, formats: formats.into_iter().map(|(_, places)| places).collect() }
    }

    /// The series made from the fixtures, except the largest.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of_fixtures(seed: u64) -> io::Result<Self> {
        let mut corpus = Vec::new();
        for folder in ["media", "samples"] {
            read_folder(&crate::fixtures().join(folder), &mut corpus)?;
        }
        Ok(Self::new(seed, corpus))
    }

    pub fn corpus(&self) -> &[SourceFile] {
        &self.corpus
    }

    /// The broken file with that number.
    pub fn nth(&self, number: u64) -> MutatedFile {
        let mut random = Random::new(self.seed, number);
        let source = self.choose(&mut random);
        let other = self.choose(&mut random);
        let whole = &self.corpus[source];
        let mut bytes = whole.bytes.clone();
        let damage = random.one_of(&Damage::ALL);
        operations::apply(damage, &mut bytes, &self.corpus[other].bytes, &mut random);
        if random.one_in(4) {
            let second = random.one_of(&Damage::ALL);
            operations::apply(second, &mut bytes, &self.corpus[other].bytes, &mut random);
        }
        // Most decoders ignore a chunk with a wrong checksum.
        if !random.one_in(4) {
            operations::repair_png_checksums(&mut bytes);
        }
        if bytes == whole.bytes {
            match bytes.first_mut() {
                Some(byte) => *byte ^= 1,
                None => bytes.push(0),
            }
        }
        MutatedFile { name: format!("{number:05}-{damage}-{}", whole.name), source, damage, bytes }
    }

    /// Chooses a source file. Half of the time chooses the format first, so that rare formats occur often enough. Takes
    /// the smaller of two random files, which is decoded faster.
    fn choose(&self, random: &mut Random) -> usize {
        let all: Vec<usize> = (0..self.corpus.len()).collect();
        let places = if random.one_in(2) { &all } else { &self.formats[random.index(self.formats.len())] };
        let (one, two) = (random.one_of(places), random.one_of(places));
        if self.corpus[one].bytes.len() <= self.corpus[two].bytes.len() { one } else { two }
    }
}

fn read_folder(folder: &Path, corpus: &mut Vec<SourceFile>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let metadata = entry.metadata()?;
        if metadata.is_file() && metadata.len() <= MAX_SOURCE_BYTES {
            let name = entry.file_name().to_string_lossy().into_owned();
            corpus.push(SourceFile { name, bytes: fs::read(entry.path())? });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn fixtures(seed: u64) -> Mutations {
        Mutations::of_fixtures(seed).unwrap()
    }

    #[test]
    fn same_number_gives_the_same_file() {
        let (one, two, other) = (fixtures(7), fixtures(7), fixtures(8));
        let backwards: Vec<MutatedFile> = (0..200).rev().map(|number| two.nth(number)).collect();
        let forwards: Vec<MutatedFile> = (0..200).map(|number| one.nth(number)).collect();
        assert!(forwards.iter().eq(backwards.iter().rev()));
        let same = forwards.iter().enumerate().filter(|(number, file)| {
            let other = other.nth(u64::try_from(*number).unwrap());
            other.bytes == file.bytes
        });
        assert!(same.count() < 5, "another seed gives other files");
    }

    #[test]
    fn every_file_is_broken_and_every_damage_and_format_occurs() {
        let mutations = fixtures(1);
        let mut damages: BTreeMap<Damage, u32> = BTreeMap::new();
        let mut sources: BTreeMap<usize, u32> = BTreeMap::new();
        for number in 0..2_000 {
            let file = mutations.nth(number);
            assert_ne!(file.bytes, mutations.corpus()[file.source].bytes, "{}", file.name);
            *damages.entry(file.damage).or_default() += 1;
            *sources.entry(file.source).or_default() += 1;
        }
        assert_eq!(damages.len(), Damage::ALL.len(), "{damages:?}");
        let kinds = |places: Vec<usize>| {
            let mut kinds: Vec<_> = places
                .into_iter()
                .map(|place| structure::Kind::of(&mutations.corpus()[place].bytes))
                .collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        let all = kinds((0..mutations.corpus().len()).collect());
        assert!(all.len() >= 4, "{all:?}");
        assert_eq!(kinds(sources.into_keys().collect()), all);
    }

    #[test]
    fn tiny_files_can_be_broken() {
        for bytes in [vec![], vec![7], b"GIF89a".to_vec()] {
            let mutations = Mutations::new(3, vec![SourceFile { name: "tiny".into(), bytes: bytes.clone() }]);
            for number in 0..500 {
                assert_ne!(mutations.nth(number).bytes, bytes, "{number}");
            }
        }
    }
}
