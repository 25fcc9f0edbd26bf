//! Reads from a program or a library on which machines it runs: processor, libraries, version of glibc.

use std::fmt;

use elf::ElfBytes;
use elf::abi::{DT_NEEDED, EM_AARCH64, EM_X86_64, PT_INTERP};
use elf::endian::LittleEndian;

/// The processor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Amd64,
    Arm64,
}

impl Machine {
    /// The processor of this system.
    pub(super) fn of_this_system() -> Self {
        if cfg!(target_arch = "aarch64") { Self::Arm64 } else { Self::Amd64 }
    }

    /// The name that Debian and container images use.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The target of the Rust compiler that makes such programs.
    pub(super) fn target(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64-unknown-linux-gnu",
            Self::Arm64 => "aarch64-unknown-linux-gnu",
        }
    }
}

/// A version of glibc, such as 2.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Glibc(pub(super) u32, pub(super) u32);

impl Glibc {
    /// Reads the name of a symbol version: `GLIBC_2.2.5` counts as 2.2.
    fn of_symbol_version(name: &str) -> Option<Self> {
        let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(str::parse);
        Some(Self(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

impl fmt::Display for Glibc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// What a program or a library needs from the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) machine: Machine,
    /// The loader's path; libraries have none.
    pub(super) loader: Option<String>,
    /// The names of the libraries, in the order of the file.
    pub(super) libraries: Vec<String>,
    /// The latest version of glibc that a symbol requires.
    pub(super) glibc: Option<Glibc>,
    /// The symbols that require that version.
    pub(super) latest_symbols: Vec<String>,
}

/// Why a file is not a program that can be packaged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("not a program for Linux: {0}")]
    Elf(#[from] elf::ParseError),
    #[error("the processor {0} is not supported")]
    Machine(u16),
    #[error("links {0}, which is not in the list of libraries that every system has")]
    Library(String),
}

impl Needs {
    /// Reads the content of a program or a library.
    pub(super) fn of(content: &[u8]) -> Result<Self, ProgramError> {
        let file = ElfBytes::<LittleEndian>::minimal_parse(content)?;
        let machine = match file.ehdr.e_machine {
            EM_X86_64 => Machine::Amd64,
            EM_AARCH64 => Machine::Arm64,
            other => return Err(ProgramError::Machine(other)),
        };
        let mut needs = Self {
            machine,
            loader: loader(&file)?,
            libraries: Vec::new(),
            glibc: None,
            latest_symbols: Vec::new(),
        };
        let common = file.find_common_data()?;
        if let (Some(dynamic), Some(names)) = (common.dynamic, common.dynsyms_strs) {
            for entry in dynamic.iter().filter(|entry| entry.d_tag == DT_NEEDED) {
                let offset = usize::try_from(entry.d_val()).unwrap_or(usize::MAX);
                needs.libraries.push(names.get(offset)?.to_owned());
            }
        }
        needs.read_versions(&file)?;
        Ok(needs)
    }

    fn read_versions(&mut self, file: &ElfBytes<'_, LittleEndian>) -> Result<(), ProgramError> {
        let (Some((symbols, names)), Some(versions)) =
            (file.dynamic_symbol_table()?, file.symbol_version_table()?)
        else {
            return Ok(());
        };
        for (index, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| symbol.is_undefined()) {
            let Some(requirement) = versions.get_requirement(index)? else { continue };
            let Some(version) = Glibc::of_symbol_version(requirement.name) else { continue };
            if self.glibc.is_none_or(|latest| latest < version) {
                self.glibc = Some(version);
                self.latest_symbols.clear();
            }
            if self.glibc == Some(version) {
                let offset = usize::try_from(symbol.st_name).unwrap_or(usize::MAX);
                self.latest_symbols.push(names.get(offset)?.to_owned());
            }
        }
        Ok(())
    }
}

fn loader(file: &ElfBytes<'_, LittleEndian>) -> Result<Option<String>, ProgramError> {
    let Some(segment) =
        file.segments().and_then(|segments| segments.iter().find(|segment| segment.p_type == PT_INTERP))
    else {
        return Ok(None);
    };
    let path = String::from_utf8_lossy(file.segment_data(&segment)?).trim_end_matches('\0').to_owned();
    Ok(Some(path))
}

/// A library that the program may link, and the dependency that brings it to a Debian system.
struct Known {
    library: &'static str,
    dependency: Dependency,
}

enum Dependency {
    Glibc,
    Package(&'static str),
}

const KNOWN: [Known; 10] = [
    Known { library: "libc.so.6", dependency: Dependency::Glibc },
    Known { library: "libm.so.6", dependency: Dependency::Glibc },
    Known { library: "libpthread.so.0", dependency: Dependency::Glibc },
    Known { library: "libdl.so.2", dependency: Dependency::Glibc },
    Known { library: "librt.so.1", dependency: Dependency::Glibc },
    Known { library: "ld-linux-x86-64.so.2", dependency: Dependency::Glibc },
    Known { library: "ld-linux-aarch64.so.1", dependency: Dependency::Glibc },
    Known { library: "libgcc_s.so.1", dependency: Dependency::Package("libgcc-s1") },
    // Only in a build without the feature `vendored-openssl`. Debian 13 and Ubuntu 24.04 have the second name.
    Known { library: "libssl.so.3", dependency: Dependency::Package("libssl3 | libssl3t64") },
    Known { library: "libcrypto.so.3", dependency: Dependency::Package("libssl3 | libssl3t64") },
];

/// The dependencies of a Debian package with this program.
///
/// # Errors
/// The program links a library that is not in the list.
pub(super) fn dependencies(needs: &Needs) -> Result<Vec<String>, ProgramError> {
    let mut dependencies = Vec::new();
    for library in &needs.libraries {
        let known = KNOWN.iter().find(|known| known.library == library);
        let dependency = match known.map(|known| &known.dependency) {
            Some(Dependency::Glibc) => {
                needs.glibc.map_or_else(|| "libc6".to_owned(), |glibc| format!("libc6 (>= {glibc})"))
            }
            Some(Dependency::Package(name)) => (*name).to_owned(),
            None => return Err(ProgramError::Library(library.clone())),
        };
        if !dependencies.contains(&dependency) {
            dependencies.push(dependency);
        }
    }
    dependencies.sort();
    Ok(dependencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program of this test, which links the system's C library.
    fn this_program() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_needs_of_this_program_are_read() {
        let needs = Needs::of(&this_program()).unwrap();
        assert_eq!(needs.machine.target(), format!("{}-unknown-linux-gnu", std::env::consts::ARCH));
        assert!(needs.loader.unwrap().contains("/ld-linux-"));
        assert!(needs.libraries.contains(&"libc.so.6".to_owned()), "{:?}", needs.libraries);
        let glibc = needs.glibc.unwrap();
        assert!(glibc >= Glibc(2, 17), "Rust itself needs 2.17, found {glibc}");
        assert!(!needs.latest_symbols.is_empty());
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |name| Glibc::of_symbol_version(name);
        assert_eq!(version("GLIBC_2.2.5"), Some(Glibc(2, 2)));
        assert!(version("GLIBC_2.9") < version("GLIBC_2.31"));
        for other in ["GCC_3.0", "GLIBC_PRIVATE", "OPENSSL_3.0.0", "GLIBC_2"] {
            assert_eq!(version(other), None, "{other}");
        }
    }

    #[test]
    fn libraries_become_dependencies() {
        let needs = |libraries: &[&str]| Needs {
            machine: Machine::Amd64,
            loader: None,
            libraries: libraries.iter().map(|&name| name.to_owned()).collect(),
            glibc: Some(Glibc(2, 31)),
            latest_symbols: Vec::new(),
        };
        assert_eq!(
            dependencies(&needs(&["libgcc_s.so.1", "libm.so.6", "libc.so.6"])).unwrap(),
            ["libc6 (>= 2.31)", "libgcc-s1"]
        );
        assert_eq!(
            dependencies(&needs(&["libssl.so.3", "libcrypto.so.3"])).unwrap(),
            ["libssl3 | libssl3t64"]
        );
        let error = dependencies(&needs(&["libc.so.6", "libstdc++.so.6"])).unwrap_err();
        assert!(error.to_string().contains("libstdc++.so.6"), "{error}");
    }

    #[test]
    fn other_files_are_refused() {
        for content in [&b""[..], b"#!/bin/sh\n", b"\x7fELF"] {
            assert!(Needs::of(content).is_err(), "{content:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn damaged_programs_never_panic() {
        let mut content = this_program();
        for at in 0..256 {
            let byte = content[at];
            for damage in [0, 0x7f, 0xff] {
                content[at] = damage;
                let _ = Needs::of(&content);
            }
            content[at] = byte;
        }
        assert!(Needs::of(&content).is_ok());
    }
}
