//! Broken photo files, made from whole ones.
//!
//! [`Mutations`] creates the same files from the same seed and whole files on every machine, so a file that caused a failure
//! can be created again from its number. Some files are changed at random (bits, cuts, blocks), others in the lengths and
//! sizes of their format, because decoders allocate by these.
//!
//! The commonest change is a new format: a walker in `structure` that records its fields and blocks, and a row in
//! [`structure::of`].

mod operations;
mod random;
mod structure;

use std::{fmt, fs, io, path::Path};

use random::Random;

/// Larger fixtures are left out, because decoding ten thousand of them would take hours.
const MAX_SEED_BYTES: u64 = 300_000;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The name of the file.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The kind of change that broke a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// Up to eight bits are flipped.
    FewFlips,
    /// About one bit in a thousand is flipped.
    ManyFlips,
    /// The end is missing.
    Cut,
    /// The file ends at the start of a block, or a few bytes before or after it.
    CutAtBlock,
    /// The start of this file and the end of another.
    Spliced,
    /// An integer near the start has another value.
    FalseNumber,
    /// A length, count, offset or size of the format has another value.
    FalseField,
    /// A block is repeated.
    Doubled,
    /// A block is missing.
    Removed,
    /// A block is all zeros.
    Zeroed,
    /// Random bytes are inserted.
    Inserted,
}

impl Damage {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::FewFlips,
        Self::ManyFlips,
        Self::Cut,
        Self::CutAtBlock,
        Self::Spliced,
        Self::FalseNumber,
        Self::FalseField,
        Self::Doubled,
        Self::Removed,
        Self::Zeroed,
        Self::Inserted,
    ];

    /// The name in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FewFlips => "few-flips",
            Self::ManyFlips => "many-flips",
            Self::Cut => "cut",
            Self::CutAtBlock => "cut-at-block",
            Self::Spliced => "spliced",
            Self::FalseNumber => "false-number",
            Self::FalseField => "false-field",
            Self::Doubled => "doubled",
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
    /// A unique name with number, damage and whole file, such as `00042-cut-grey.jpg`.
    pub name: String,
    /// The index of its whole file.
    pub seed: usize,
    /// The first change. A quarter of all files have a second one.
    pub damage: Damage,
    /// Its bytes, which differ from those of the whole file.
    pub bytes: Vec<u8>,
}

/// An endless series of broken files, each determined by its number.
#[derive(Debug, Clone)]
pub struct Mutations {
    seed: u64,
    corpus: Vec<SourceFile>,
    /// The indices of the files of each format.
    formats: Vec<Vec<usize>>,
}

impl Mutations {
    /// The series from these whole files.
    ///
    /// # Panics
    /// If there is no whole file.
    pub fn new(seed: u64, corpus: Vec<SourceFile>) -> Self {
        assert!(!corpus.is_empty(), "broken files are made from whole ones");
        let mut formats: Vec<(structure::Kind, Vec<usize>)> = Vec::new();
        for (index, file) in corpus.iter().enumerate() {
            let kind = structure::Kind::of(&file.bytes);
            match formats.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, indices)) => indices.push(index),
                None => formats.push((kind, vec![index])),
            }
        }
        Self { seed, corpus, formats: formats.into_iter().map(|(_, indices)| indices).collect() }
    }

    /// The series from the photos in the repository, except the largest.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn of_fixtures(seed: u64) -> io::Result<Self> {
        let mut corpus = Vec::new();
        for folder in ["media", "samples"] {
            read_folder(&crate::fixtures().join(folder), &mut corpus)?;
        }
        Ok(Self::new(seed, corpus))
    }

    /// The whole files.
    pub fn corpus(&self) -> &[SourceFile] {
        &self.corpus
    }

    /// The broken file with this number.
    pub fn nth(&self, number: u64) -> MutatedFile {
        let mut random = Random::new(self.seed, number);
        let seed = self.choose(&mut random);
        let other = self.choose(&mut random);
        let whole = &self.corpus[seed];
        let mut bytes = whole.bytes.clone();
        let damage = random.one_of(&Damage::ALL);
        operations::apply(damage, &mut bytes, &self.corpus[other].bytes, &mut random);
        if random.one_in(4) {
            let second = random.one_of(&Damage::ALL);
            operations::apply(second, &mut bytes, &self.corpus[other].bytes, &mut random);
        }
        // Most decoders stop at a wrong checksum.
        if !random.one_in(4) {
            operations::repair_png_checksums(&mut bytes);
        }
        if bytes == whole.bytes {
            match bytes.first_mut() {
                Some(byte) => *byte ^= 1,
                None => bytes.push(0),
            }
        }
        MutatedFile { name: format!("{number:05}-{damage}-{}", whole.name), seed, damage, bytes }
    }

    /// Half of the time chooses a format first, so that formats with few files occur too. Of two files it takes the smaller
    /// one, which decodes faster.
    fn choose(&self, random: &mut Random) -> usize {
        let all: Vec<usize> = (0..self.corpus.len()).collect();
        let indices = if random.one_in(2) { &all } else { &self.formats[random.index(self.formats.len())] };
        let (one, two) = (random.one_of(indices), random.one_of(indices));
        if self.corpus[one].bytes.len() <= self.corpus[two].bytes.len() { one } else { two }
    }
}

fn read_folder(folder: &Path, corpus: &mut Vec<SourceFile>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let metadata = entry.metadata()?;
        if metadata.is_file() && metadata.len() <= MAX_SEED_BYTES {
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
    fn a_number_always_gives_the_same_file() {
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
    fn no_file_is_whole_and_every_damage_and_format_occurs() {
        let mutations = fixtures(1);
        let mut damages: BTreeMap<Damage, u32> = BTreeMap::new();
        let mut seeds: BTreeMap<usize, u32> = BTreeMap::new();
        for number in 0..2_000 {
            let file = mutations.nth(number);
            assert_ne!(file.bytes, mutations.corpus()[file.seed].bytes, "{}", file.name);
            *damages.entry(file.damage).or_default() += 1;
            *seeds.entry(file.seed).or_default() += 1;
        }
        assert_eq!(damages.len(), Damage::ALL.len(), "{damages:?}");
        let kinds = |indices: Vec<usize>| {
            let mut kinds: Vec<_> = indices
                .into_iter()
                .map(|index| structure::Kind::of(&mutations.corpus()[index].bytes))
                .collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        };
        let all = kinds((0..mutations.corpus().len()).collect());
        assert!(all.len() >= 4, "{all:?}");
        assert_eq!(kinds(seeds.into_keys().collect()), all);
    }

    #[test]
    fn a_tiny_file_can_be_broken() {
        for bytes in [vec![], vec![7], b"GIF89a".to_vec()] {
            let mutations = Mutations::new(3, vec![SourceFile { name: "tiny".into(), bytes: bytes.clone() }]);
            for number in 0..500 {
                assert_ne!(mutations.nth(number).bytes, bytes, "{number}");
            }
        }
    }
}
