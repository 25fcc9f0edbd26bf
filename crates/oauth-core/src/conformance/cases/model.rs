use std::sync::Arc;

use fastrand::Rng;

use crate::{
    CurrentRefreshToken, Eviction, GrantKey, Grants, MemoryStore, NewCode, SecretHash, Sweep, UnixMillis,
    conformance::fixture::{Fixture, NOW, SUBJECTS},
};

/// The test data in both stores so far.
struct History {
    clients: Vec<crate::NewClient>,
    codes: Vec<NewCode>,
    redeemed: Vec<(String, SecretHash)>,
    /// Current and replaced tokens with their grants.
    tokens: Vec<(String, CurrentRefreshToken)>,
    now: UnixMillis,
}

/// Calls a method of both stores and compares the results.
macro_rules! both {
    ($fixture:ident, $model:ident, $method:ident($($argument:expr),*)) => {{
        let expect = $model.store().$method($($argument),*).await.unwrap();
        let got = $fixture.store().$method($($argument),*).await.unwrap();
        assert_eq!(got, expect, stringify!($method));
        got
    }};
}

pub(crate) async fn random_operations_agree_with_a_model(fixture: &Fixture) {
    let model = Fixture::new(Arc::new(MemoryStore::new()));
    let mut rng = Rng::with_seed(20_260_101);
    let mut history = History {
        clients: Vec::new(),
        codes: Vec::new(),
        redeemed: Vec::new(),
        tokens: Vec::new(),
        now: NOW,
    };
    for step in 0..600 {
        history.now = history.now.plus_ms(1 + i64::try_from(rng.u64(..60_000)).unwrap());
        if rng.u64(..5) == 0 {
            history.now = history.now.plus_ms(3_600_000);
        }
        operate(fixture, &model, &mut rng, &mut history).await;
        if step % 20 == 0 {
            compare(fixture, &model, &history).await;
        }
    }
    compare(fixture, &model, &history).await;
    assert!(
        history.tokens.len() > history.redeemed.len() && history.redeemed.len() > 10,
        "the history is long enough"
    );
}

async fn operate(fixture: &Fixture, model: &Fixture, rng: &mut Rng, history: &mut History) {
    let at = history.now;
    match rng.u64(..16) {
        0 | 1 => {
            let mut new = fixture.new_client();
            new.client.issued_at = at;
            if let (0, Some(other)) = (rng.u64(..2), rng.choice(&history.clients)) {
                new.digest = other.digest;
            }
            let before = at.plus_ms(-3_600_000);
            new.eviction = Some(Eviction { keep: 5, before, max: 2 });
            both!(fixture, model, register_client(new.clone()));
            history.clients.push(new);
        }
        2..=4 => {
            let mut new = fixture.new_code();
            if let (0, Some(other)) = (rng.u64(..4), rng.choice(&history.codes)) {
                new.hash = other.hash;
            }
            match rng.choice(&history.clients) {
                Some(client) if rng.u64(..4) > 0 => {
                    new.grant.client_id.clone_from(&client.client.id);
                }
                _ => {
                    let mut client = fixture.new_client();
                    client.client.issued_at = at;
                    client.client.id.clone_from(&new.grant.client_id);
                    new.client = Some(client.client.clone());
                    history.clients.push(client);
                }
            }
            SUBJECTS[usize::from(rng.u64(..3) == 0)].clone_into(&mut new.grant.subject);
            new.grant.created_at = at;
            new.code.expires_at = at.plus_ms(600_000);
            both!(fixture, model, issue_code(new.clone()));
            history.codes.push(new);
        }
        5..=8 => redeem(fixture, model, rng, history).await,
        9..=12 => {
            if let Some((grant, token)) = rng.choice(&history.tokens) {
                let rotation = fixture.rotation(grant, token, at);
                let next = (grant.clone(), rotation.next.clone());
                if both!(fixture, model, rotate_refresh_token(rotation.clone())) {
                    history.tokens.push(next);
                }
            }
        }
        13 => {
            if let Some((grant, _)) = rng.choice(&history.redeemed) {
                match rng.u64(..3) {
                    0 | 1 => both!(fixture, model, revoke(Grants::WithId(grant), at)) > 0,
                    _ => {
                        rng.u64(..4) == 0
                            && both!(fixture, model, revoke(Grants::OfSubject(SUBJECTS[1]), at)) > 0
                    }
                };
            }
        }
        14 => {
            if let Some((grant, _)) = rng.choice(&history.redeemed) {
                both!(fixture, model, record_use(grant, at.plus_ms(-7_200_000)));
                both!(fixture, model, record_use(grant, at));
            }
        }
        _ => {
            let before = at.plus_ms(-24 * 3_600_000);
            let [codes_before, grants_before, clients_before, assertions_before] = [before; 4];
            let sweep = Sweep { codes_before, grants_before, clients_before, assertions_before, max: 1000 };
            for store in [fixture.store(), model.store()] {
                while store.sweep(sweep).await.unwrap() > 0 {}
            }
        }
    }
}

async fn redeem(fixture: &Fixture, model: &Fixture, rng: &mut Rng, history: &mut History) {
    let recent = history.codes.len().saturating_sub(6);
    let Some(code) = rng.choice(history.codes.get(recent..).unwrap_or_default()).cloned() else { return };
    let mut redemption = fixture.redemption(code.hash, history.now);
    if rng.u64(..5) == 0 {
        redemption.refresh = None;
    }
    let grant = both!(fixture, model, grant(GrantKey::Code(&code.hash))).map(|found| found.grant.id);
    let is_redeemed = both!(fixture, model, redeem_code(redemption.clone()));
    if let (true, Some(grant), Some(refresh)) = (is_redeemed, grant, redemption.refresh) {
        history.redeemed.push((grant.clone(), refresh.handle));
        history.tokens.push((grant, refresh.token));
    }
}

async fn compare(fixture: &Fixture, model: &Fixture, history: &History) {
    for client in &history.clients {
        both!(fixture, model, client(&client.client.id));
    }
    for code in &history.codes {
        both!(fixture, model, grant(GrantKey::Code(&code.hash)));
        both!(fixture, model, grant(GrantKey::Id(&code.grant.id)));
    }
    for (_, handle) in &history.redeemed {
        both!(fixture, model, grant(GrantKey::RefreshHandle(handle)));
    }
    for subject in SUBJECTS {
        both!(fixture, model, connections(subject));
    }
}
