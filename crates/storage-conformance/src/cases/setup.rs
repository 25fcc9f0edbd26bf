use domain::{Account, Email, Plan};
use storage::{MAX_SETUP_LINKS, NewAccount, SetupHash};

use super::concurrently;
use crate::{NOW, Seed, queries::second, sync_handle};

const LINK: SetupHash = [1; 32];

fn first(email: &str) -> NewAccount {
    NewAccount {
        email: Email::parse(email).unwrap(),
        password_hash: "$argon2id$hash".to_owned(),
        plan: Plan::Paid,
        sync_handle: sync_handle(email),
        created_at: NOW,
    }
}

async fn set_up(seed: &Seed, link: SetupHash, email: &str) -> Option<Account> {
    seed.store().create_first_account(link, first(email)).await.unwrap()
}

pub(crate) async fn a_link_creates_the_first_account_once(seed: &Seed) {
    assert!(!seed.store().is_setup_link_valid(LINK).await.unwrap());
    assert!(!seed.store().has_account().await.unwrap());
    assert_eq!(set_up(seed, LINK, "ann@example.org").await, None);
    assert!(seed.store().create_setup_link(LINK, NOW).await.unwrap());
    assert!(seed.store().create_setup_link(LINK, NOW).await.unwrap(), "again");
    assert!(seed.store().is_setup_link_valid(LINK).await.unwrap());
    assert_eq!(set_up(seed, [2; 32], "ann@example.org").await, None, "another link");
    let made = set_up(seed, LINK, "ann@example.org").await.unwrap();
    assert_eq!((made.email.as_str(), made.plan), ("ann@example.org", Plan::Paid));
    assert!(seed.store().has_account().await.unwrap());
    assert!(!seed.store().is_setup_link_valid(LINK).await.unwrap());
    assert_eq!(set_up(seed, LINK, "ben@example.org").await, None);
    assert_eq!(seed.store().accounts().await.unwrap(), [made]);
}

pub(crate) async fn any_account_invalidates_links(seed: &Seed) {
    assert!(seed.store().create_setup_link(LINK, NOW).await.unwrap());
    let ann = seed.account_of("ann@example.org", Plan::Paid).await;
    assert!(!seed.store().is_setup_link_valid(LINK).await.unwrap());
    seed.store().delete_account(ann.id, second(1)).await.unwrap();
    assert!(!seed.store().is_setup_link_valid(LINK).await.unwrap(), "for good");
    assert_eq!(set_up(seed, LINK, "ben@example.org").await, None);
    assert!(seed.store().create_setup_link([2; 32], second(2)).await.unwrap());
    assert!(set_up(seed, [2; 32], "ben@example.org").await.is_some());
}

pub(crate) async fn no_link_is_valid_when_an_account_exists(seed: &Seed) {
    seed.account_of("ann@example.org", Plan::Paid).await;
    assert!(!seed.store().create_setup_link(LINK, NOW).await.unwrap());
    assert!(!seed.store().is_setup_link_valid(LINK).await.unwrap());
}

pub(crate) async fn only_the_newest_links_are_valid(seed: &Seed) {
    let links = u8::try_from(MAX_SETUP_LINKS).unwrap() + 1;
    for link in 1..=links {
        assert!(seed.store().create_setup_link([link; 32], second(i64::from(link))).await.unwrap());
    }
    assert!(!seed.store().is_setup_link_valid([1; 32]).await.unwrap());
    for link in 2..=links {
        assert!(seed.store().is_setup_link_valid([link; 32]).await.unwrap(), "{link}");
    }
}

pub(crate) async fn only_one_concurrent_setup_succeeds(seed: &Seed) {
    assert!(seed.store().create_setup_link(LINK, NOW).await.unwrap());
    let outcomes =
        concurrently((0..8).map(|number| {
            let store = seed.store().clone();
            async move {
                store.create_first_account(LINK, first(&format!("p{number}@example.org"))).await.unwrap()
            }
        }))
        .await;
    assert_eq!(outcomes.iter().flatten().count(), 1);
    assert_eq!(seed.store().accounts().await.unwrap().len(), 1);
}
