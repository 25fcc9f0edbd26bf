use domain::SidecarKind;

/// Extensions of the temporary names under which some apps upload a file before they move it to its final name.
const PARTIAL_EXTENSIONS: [&str; 5] = [".part", ".tmp", ".tacitpart", ".filepart", ".partial"];

/// What the bytes of a file will be, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    Photo { is_partial: bool },
    Sidecar(SidecarKind),
    Junk,
}

impl NameKind {
    pub(super) fn of(name: &str) -> Self {
        let final_name = final_name(name);
        if media::is_junk_file_name(final_name) {
            return Self::Junk;
        }
        match media::sidecar_kind(final_name) {
            Some(kind) => Self::Sidecar(kind),
            None => Self::Photo { is_partial: final_name.len() < name.len() },
        }
    }
}

/// The name without the extension of a partial upload.
fn final_name(name: &str) -> &str {
    let extension = |extension: &&str| {
        let start = name.len().checked_sub(extension.len())?;
        let end = name.get(start..)?;
        end.eq_ignore_ascii_case(extension).then_some(start)
    };
    let found = PARTIAL_EXTENSIONS.iter().find_map(extension).filter(|start| *start > 0);
    found.and_then(|start| name.get(..start)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_determine_the_kind_of_a_file() {
        let photo = |is_partial| NameKind::Photo { is_partial };
        for (name, expect) in [
            ("a.jpg", photo(false)),
            ("a.jpg.part", photo(true)),
            ("a.JPG.TacitPart", photo(true)),
            (".part", photo(false)),
            ("a.xmp", NameKind::Sidecar(SidecarKind::Xmp)),
            ("a.jpg.xmp.tmp", NameKind::Sidecar(SidecarKind::Xmp)),
            ("._a.jpg", NameKind::Junk),
            (".DS_Store", NameKind::Junk),
        ] {
            assert_eq!(NameKind::of(name), expect, "{name}");
        }
    }
}
