//! Broken photo files, made from whole ones.
//!
//! [`Mutations`] gives the same files for the same seed and the same whole files, on every machine: a file that did
//! harm is made again from its number. Some files are broken blindly (bits, cuts, blocks), others where their format
//! says how long or how large something is, which is where decoders allocate.
//!
//! The commonest change is a new format: a walker in `structure` that notes its fields and blocks, and a row in
//! [`structure::of`].

mod dice;
mod operations;
mod structure;

use std::{fmt, fs, io, path::Path};

use dice::Dice;

/// Longer fixtures are left out: ten thousand of them would take hours to decode.
const MAX_SEED_BYTES: u64 = 300_000;

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The name of the file.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// How a file was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// Up to eight bits are flipped.
    FewFlips,
    /// About one bit in a thousand is flipped.
    ManyFlips,
    /// The end is missing.
    Cut,
    /// The file ends where one of its blocks begins, or a few bytes beside it.
    CutAtBlock,
    /// The beginning of this file, and the end of another.
    Spliced,
    /// Some integer near the beginning has another value.
    LyingNumber,
    /// A length, a count, an offset or a size that the format knows of has another value.
    LyingField,
    /// A block stands there twice.
    Doubled,
    /// A block is missing.
    Removed,
    /// A block is all zeros.
    Zeroed,
    /// Random bytes stand where none belong.
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
        Self::LyingNumber,
        Self::LyingField,
        Self::Doubled,
        Self::Removed,
        Self::Zeroed,
        Self::Inserted,
    ];

    /// The name, as it stands in names of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FewFlips => "few-flips",
            Self::ManyFlips => "many-flips",
            Self::Cut => "cut",
            Self::CutAtBlock => "cut-at-block",
            Self::Spliced => "spliced",
            Self::LyingNumber => "lying-number",
            Self::LyingField => "lying-field",
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
    /// A name of its own, which tells number, damage and whole file: `00042-cut-grey.jpg`.
    pub name: String,
    /// The place of its whole file among the whole files.
    pub seed: usize,
    /// How it was broken first; a quarter of all files are broken twice.
    pub damage: Damage,
    /// Its bytes, unlike those of the whole file.
    pub bytes: Vec<u8>,
}

/// An endless series of broken files, each made from its number alone.
#[derive(Debug, Clone)]
pub struct Mutations {
    seed: u64,
    corpus: Vec<SourceFile>,
    /// The places of the files of each format, by how they begin.
    formats: Vec<Vec<usize>>,
}

impl Mutations {
    /// The series of a seed over some whole files.
    ///
    /// # Panics
    /// When there is no whole file.
    pub fn new(seed: u64, corpus: Vec<SourceFile>) -> Self {
        assert!(!corpus.is_empty(), "broken files are made from whole ones");
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

    /// The series over the photos that ship with the source, but for the largest.
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

    /// The broken file of that number.
    pub fn nth(&self, number: u64) -> MutatedFile {
        let mut dice = Dice::new(self.seed, number);
        let seed = self.choose(&mut dice);
        let other = self.choose(&mut dice);
        let whole = &self.corpus[seed];
        let mut bytes = whole.bytes.clone();
        let damage = dice.one_of(&Damage::ALL);
        operations::apply(damage, &mut bytes, &self.corpus[other].bytes, &mut dice);
        if dice.one_in(4) {
            let second = dice.one_of(&Damage::ALL);
            operations::apply(second, &mut bytes, &self.corpus[other].bytes, &mut dice);
        }
        // Behind a wrong checksum most decoders look at nothing.
        if !dice.one_in(4) {
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

    /// Half of the time a format first, so that one with few files gets its share; of two files the smaller one,
    /// which is decoded sooner.
    fn choose(&self, dice: &mut Dice) -> usize {
        let all: Vec<usize> = (0..self.corpus.len()).collect();
        let places = if dice.one_in(2) { &all } else { &self.formats[dice.index(self.formats.len())] };
        let (one, two) = (dice.one_of(places), dice.one_of(places));
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
    fn a_number_gives_the_same_file_each_time() {
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
        assert_eq!(kinds(seeds.into_keys().collect()), all);
    }

    #[test]
    fn a_tiny_file_can_be_broken_too() {
        for bytes in [vec![], vec![7], b"GIF89a".to_vec()] {
            let mutations = Mutations::new(3, vec![SourceFile { name: "tiny".into(), bytes: bytes.clone() }]);
            for number in 0..500 {
                assert_ne!(mutations.nth(number).bytes, bytes, "{number}");
            }
        }
    }
}
