use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use ring::hmac;

use crate::{Random, random::base32};

/// The shortest secret, in characters.
const MIN_CHARS: usize = 32;

/// Why the secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the secret must have at least {MIN_CHARS} characters")]
    TooShort,
    /// The secret file cannot be read or created.
    #[error("the secret file {path} cannot be used: {source}")]
    File { path: PathBuf, source: io::Error },
    /// There are no random bytes for a new secret.
    #[error("no secret could be created: {0}")]
    Random(#[from] crate::RandomError),
}

/// The service's secret, from which its keys are derived. `Debug` does not show it.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// A secret of at least 32 characters, without surrounding white space.
    pub fn from_text(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if text.chars().count() < MIN_CHARS {
            return Err(SecretError::TooShort);
        }
        Ok(Self(text.as_bytes().to_vec()))
    }

    /// Reads the secret from a file, or creates the file, readable only by its owner, with a new secret. Two processes
    /// that create it concurrently get the same secret.
    ///
    /// # Errors
    /// [`SecretError`]: the file cannot be read or written, or is too short.
    pub fn load_or_create(path: &Path, random: &dyn Random) -> Result<Self, SecretError> {
        let failed = |source| SecretError::File { path: path.to_owned(), source };
        if !path.try_exists().map_err(failed)? {
            create(path, random)?;
        }
        Self::from_text(&fs::read_to_string(path).map_err(failed)?)
    }

    /// The secret itself, for a backup.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// A key of 32 bytes for one purpose, by HKDF-SHA256 (RFC 5869). It reveals nothing about the secret or other keys.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let extracted = hmac_sha256(b"photo library", &[&self.0]);
        hmac_sha256(&extracted, &[purpose.as_bytes(), &[1]])
    }
}

fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    parts.iter().for_each(|part| context.update(part));
    let mut tag = [0; 32];
    tag.iter_mut().zip(context.sign().as_ref()).for_each(|(to, from)| *to = *from);
    tag
}

/// Writes a new secret to a temporary file and links it to `path`. Linking fails if another process was faster. Then
/// the secret of that process is used.
fn create(path: &Path, random: &dyn Random) -> Result<(), SecretError> {
    let failed = |source| SecretError::File { path: path.to_owned(), source };
    let mut bytes = [0; 40];
    random.fill(&mut bytes)?;
    let (secret, name) = bytes.split_at(32);
    let draft = path.with_extension(format!("{}.tmp", base32(name)));
    let linked = write_private(&draft, &base32(secret)).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error)),
        _ => sync_folder(path).map_err(failed),
    }
}

/// Makes the new name durable: data that is signed or sealed from now on depends on the secret.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}

/// Other systems cannot open folders.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SeededRandom, SystemRandom};

    #[test]
    fn a_secret_is_created_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let made = Secret::load_or_create(&path, &SeededRandom::new(1)).unwrap();
        let read = Secret::load_or_create(&path, &SeededRandom::new(2)).unwrap();
        assert_eq!(made.derive("x"), read.derive("x"));
        assert_ne!(made.derive("x"), made.derive("y"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn concurrent_creation_gives_one_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| Secret::load_or_create(&path, &SystemRandom::new()).unwrap().derive("x"))
                })
                .collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn a_short_secret_is_refused_and_debug_hides_it() {
        assert!(matches!(Secret::from_text("short"), Err(SecretError::TooShort)));
        let secret = Secret::from_text(&"s".repeat(32)).unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_ne!(secret.derive("x"), [0; 32]);
    }

    #[test]
    fn keys_are_derived_by_hkdf() {
        struct Length;
        impl ring::hkdf::KeyType for Length {
            fn len(&self) -> usize {
                32
            }
        }
        let text = "s".repeat(40);
        let mut expect = [0; 32];
        ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, b"photo library")
            .extract(text.as_bytes())
            .expand(&[b"image URL"], Length)
            .unwrap()
            .fill(&mut expect)
            .unwrap();
        assert_eq!(Secret::from_text(&text).unwrap().derive("image URL"), expect);
    }
}
