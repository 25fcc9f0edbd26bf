use std::sync::Arc;

use crate::{
    CurrentRefreshToken, Eviction, MemoryStore, NewCode, SecretHash, Sweep, UnixMillis,
    conformance::{
        random::Numbers,
        seed::{NOW, SUBJECTS, Seed},
    },
};

/// What was put into both stores so far.
struct Known {
    clients: Vec<crate::NewClient>,
    codes: Vec<NewCode>,
    redeemed: Vec<(String, SecretHash)>,
    /// Tokens that were current once, with their grants.
    tokens: Vec<(String, CurrentRefreshToken)>,
    now: UnixMillis,
}

/// Asks both stores the same and wants the same answer.
macro_rules! both {
    ($seed:ident, $model:ident, $method:ident($($argument:expr),*)) => {{
        let expect = $model.store().$method($($argument),*).await.unwrap();
        let got = $seed.store().$method($($argument),*).await.unwrap();
        assert_eq!(got, expect, stringify!($method));
        got
    }};
}

pub(crate) async fn random_operations_agree_with_a_model(seed: &Seed) {
    let model = Seed::new(Arc::new(MemoryStore::new()));
    let mut numbers = Numbers::new(20_260_101);
    let mut known =
        Known { clients: Vec::new(), codes: Vec::new(), redeemed: Vec::new(), tokens: Vec::new(), now: NOW };
    for step in 0..600 {
        known.now = known.now.plus_ms(1 + i64::try_from(numbers.below(60_000)).unwrap());
        if numbers.below(5) == 0 {
            known.now = known.now.plus_ms(3_600_000);
        }
        operate(seed, &model, &mut numbers, &mut known).await;
        if step % 20 == 0 {
            compare(seed, &model, &known).await;
        }
    }
    compare(seed, &model, &known).await;
    assert!(known.tokens.len() > known.redeemed.len() && known.redeemed.len() > 10, "much has happened");
}

async fn operate(seed: &Seed, model: &Seed, numbers: &mut Numbers, known: &mut Known) {
    let at = known.now;
    match numbers.below(16) {
        0 | 1 => {
            let mut new = seed.new_client();
            new.client.issued_at = at;
            if let (0, Some(other)) = (numbers.below(2), numbers.pick(&known.clients)) {
                new.digest = other.digest;
            }
            let before = at.plus_ms(-3_600_000);
            new.eviction = Some(Eviction { keep: 5, before, max: 2 });
            both!(seed, model, register_client(new.clone()));
            known.clients.push(new);
        }
        2..=4 => {
            let mut new = seed.new_code();
            if let (0, Some(other)) = (numbers.below(4), numbers.pick(&known.codes)) {
                new.hash = other.hash;
            }
            match numbers.pick(&known.clients) {
                Some(client) if numbers.below(4) > 0 => {
                    new.code.grant.client_id.clone_from(&client.client.id);
                }
                _ => {
                    let mut client = seed.new_client();
                    client.client.issued_at = at;
                    client.client.id.clone_from(&new.code.grant.client_id);
                    new.client = Some(client.client.clone());
                    known.clients.push(client);
                }
            }
            SUBJECTS[usize::from(numbers.below(3) == 0)].clone_into(&mut new.code.grant.subject);
            new.code.grant.created_at = at;
            new.code.expires_at = at.plus_ms(600_000);
            both!(seed, model, issue_code(new.clone()));
            known.codes.push(new);
        }
        5..=8 => redeem(seed, model, numbers, known).await,
        9..=12 => {
            if let Some((grant, token)) = numbers.pick(&known.tokens) {
                let rotation = seed.rotation(grant, token, at);
                let next = (grant.clone(), rotation.next.clone());
                if both!(seed, model, rotate_refresh_token(rotation.clone())) {
                    known.tokens.push(next);
                }
            }
        }
        13 => {
            if let Some((grant, _)) = numbers.pick(&known.redeemed) {
                match numbers.below(3) {
                    0 | 1 => both!(seed, model, revoke_grant(grant, at)),
                    _ => numbers.below(4) == 0 && both!(seed, model, revoke_all(SUBJECTS[1], at)) > 0,
                };
            }
        }
        14 => {
            if let Some((grant, _)) = numbers.pick(&known.redeemed) {
                both!(seed, model, record_use(grant, at.plus_ms(-7_200_000)));
                both!(seed, model, record_use(grant, at));
            }
        }
        _ => {
            let before = at.plus_ms(-24 * 3_600_000);
            let [codes_before, grants_before, clients_before] = [before; 3];
            let sweep = Sweep { codes_before, grants_before, clients_before, max: 1000 };
            for store in [seed.store(), model.store()] {
                while store.sweep(sweep).await.unwrap() > 0 {}
            }
        }
    }
}

async fn redeem(seed: &Seed, model: &Seed, numbers: &mut Numbers, known: &mut Known) {
    let recent = known.codes.len().saturating_sub(6);
    let Some(code) = numbers.pick(known.codes.get(recent..).unwrap_or_default()).cloned() else { return };
    let mut redemption = seed.redemption(code.hash, known.now);
    if numbers.below(5) == 0 {
        redemption.refresh = None;
    }
    let grant = both!(seed, model, code(&code.hash)).map(|code| code.grant.id);
    if both!(seed, model, redeem_code(redemption.clone()))
        && let (Some(grant), Some(refresh)) = (grant, redemption.refresh)
    {
        known.redeemed.push((grant.clone(), refresh.handle));
        known.tokens.push((grant, refresh.token));
    }
}

async fn compare(seed: &Seed, model: &Seed, known: &Known) {
    for client in &known.clients {
        both!(seed, model, client(&client.client.id));
    }
    for code in &known.codes {
        both!(seed, model, code(&code.hash));
        both!(seed, model, grant(&code.code.grant.id));
    }
    for (_, handle) in &known.redeemed {
        both!(seed, model, refreshable_grant(handle));
    }
    for subject in SUBJECTS {
        both!(seed, model, connections(subject));
    }
}
