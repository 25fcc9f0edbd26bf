use crate::{Random, RandomError, parts::sha256, random::base32};

/// How every API key begins, so that people and secret scanners know one when they see it.
pub const API_KEY_PREFIX: &str = "photos_";

/// A new API key: the prefix and 160 random bits. It is shown once; only its hash is kept.
///
/// # Errors
/// [`RandomError`].
pub fn new_api_key(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 20];
    random.fill(&mut bytes)?;
    Ok(format!("{API_KEY_PREFIX}{}", base32(&bytes)))
}

/// The SHA-256 under which a key is looked up. A fast hash is enough for a key of 160 random bits, and looking it
/// up by hash gives timing nothing to tell.
pub fn api_key_hash(key: &str) -> [u8; 32] {
    sha256(key.as_bytes())
}

/// A strong password that can be read out and typed: 100 random bits in four groups of five characters.
///
/// # Errors
/// [`RandomError`].
pub fn new_password(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 13];
    random.fill(&mut bytes)?;
    let characters: Vec<char> = base32(&bytes).chars().take(20).collect();
    let groups: Vec<String> = characters.chunks(5).map(|group| group.iter().collect()).collect();
    Ok(groups.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    #[test]
    fn keys_and_passwords_have_their_shape() {
        let random = SeededRandom::new(1);
        let key = new_api_key(&random).unwrap();
        assert_eq!(key.len(), API_KEY_PREFIX.len() + 32);
        assert_ne!(api_key_hash(&key), api_key_hash(&new_api_key(&random).unwrap()));
        let password = new_password(&random).unwrap();
        assert_eq!(password.split('-').map(str::len).collect::<Vec<_>>(), [5, 5, 5, 5]);
    }
}
