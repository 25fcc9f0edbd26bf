use crate::{Random, RandomError, parts::sha256, random::base32};

/// The prefix of every API key; people and secret scanners recognise it.
pub const API_KEY_PREFIX: &str = "photos_";

/// A new API key: the prefix and 160 random bits. Only its hash is stored.
pub fn new_api_key(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 20];
    random.fill(&mut bytes)?;
    Ok(format!("{API_KEY_PREFIX}{}", base32(&bytes)))
}

/// A new sync password: 160 random bits as 32 letters and digits, because apps put it into URLs without encoding it. Only
/// its hash is stored.
pub fn new_sync_password(random: &dyn Random) -> Result<String, RandomError> {
    let mut bytes = [0; 20];
    random.fill(&mut bytes)?;
    Ok(base32(&bytes))
}

/// The SHA-256 of an API key or sync password, for look-ups. A fast hash is safe for 160 random bits, and a look-up by hash leaks
/// nothing through timing.
pub fn api_key_hash(key: &str) -> [u8; 32] {
    sha256(key.as_bytes())
}

/// A strong password that is easy to read aloud and type: 100 random bits in four groups of five characters.
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
    fn keys_and_passwords_have_the_right_format() {
        let random = SeededRandom::new(1);
        let key = new_api_key(&random).unwrap();
        assert_eq!(key.len(), API_KEY_PREFIX.len() + 32);
        assert_ne!(api_key_hash(&key), api_key_hash(&new_api_key(&random).unwrap()));
        let sync_password = new_sync_password(&random).unwrap();
        assert_eq!(sync_password.len(), 32);
        assert!(sync_password.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
        let password = new_password(&random).unwrap();
        assert_eq!(password.split('-').map(str::len).collect::<Vec<_>>(), [5, 5, 5, 5]);
    }
}
