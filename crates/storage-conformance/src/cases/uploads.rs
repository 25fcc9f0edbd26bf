use domain::{AccountId, Plan};
use storage::{
    AddPart, BeginUpload, MAX_FINISHED_UPLOADS, MAX_UPLOAD_PARTS, MAX_UPLOADS, NewUpload, SweptUploads,
    UploadId, UploadPart, UploadProtocol, UploadState,
};

use super::concurrently;
use crate::{Seed, queries::second};

use UploadProtocol::{Chunked, Tus};

fn new(account: AccountId, protocol: UploadProtocol, name: &str) -> NewUpload {
    NewUpload {
        account,
        protocol,
        name: name.to_owned(),
        total_bytes: Some(100),
        metadata: "filename YS5qcGc=".to_owned(),
        at: second(1),
    }
}

async fn begin(seed: &Seed, account: AccountId, protocol: UploadProtocol, name: &str) -> UploadId {
    match seed.store().begin_upload(new(account, protocol, name)).await.unwrap() {
        BeginUpload::Begun(id) => id,
        other => panic!("{other:?}"),
    }
}

/// A part whose file is named after the upload, its number and its length.
fn part(upload: UploadId, number: u64, bytes: u64) -> UploadPart {
    UploadPart {
        number,
        name: format!("{number:05}"),
        bytes,
        file: format!("part-{}-{number}-{bytes}", upload.0),
        received_at: second(2),
    }
}

async fn add(seed: &Seed, upload: UploadId, number: u64, bytes: u64) -> AddPart {
    seed.store().add_part(upload, part(upload, number, bytes), None).await.unwrap()
}

async fn state(seed: &Seed, account: AccountId, protocol: UploadProtocol, name: &str) -> Option<UploadState> {
    seed.store().upload(account, protocol, name).await.unwrap()
}

async fn stored(seed: &Seed, account: AccountId) -> u64 {
    seed.store().stored_bytes(account).await.unwrap()
}

const ADDED: AddPart = AddPart::Added { replaced: None };

pub(crate) async fn an_upload_is_found_by_account_protocol_and_name(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    let id = begin(seed, ann, Tus, "a").await;
    let found = state(seed, ann, Tus, "a").await.unwrap();
    assert_eq!((found.id, found.protocol, found.name.as_str()), (id, Tus, "a"));
    assert_eq!((found.total_bytes, found.metadata.as_str()), (Some(100), "filename YS5qcGc="));
    assert_eq!((found.result.as_deref(), found.touched_at, found.received_bytes()), (None, second(1), 0));
    assert_eq!(state(seed, ben, Tus, "a").await, None);
    assert_eq!(state(seed, ann, Chunked, "a").await, None);
    assert_eq!(state(seed, ann, Tus, "A").await, None);
    let endless = NewUpload { total_bytes: None, ..new(ben, Chunked, "a") };
    assert!(matches!(seed.store().begin_upload(endless).await.unwrap(), BeginUpload::Begun(_)));
    assert_eq!(state(seed, ben, Chunked, "a").await.unwrap().total_bytes, None);
}

pub(crate) async fn an_unfinished_upload_keeps_its_name(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Chunked, "a").await;
    assert_eq!(seed.store().begin_upload(new(ann, Chunked, "a")).await.unwrap(), BeginUpload::Exists);
    seed.store().finish_upload(id, "done", second(2)).await.unwrap();
    let again = begin(seed, ann, Chunked, "a").await;
    assert_ne!(again, id, "a finished upload is replaced");
    assert_eq!(state(seed, ann, Chunked, "a").await.unwrap().result, None);
}

pub(crate) async fn tus_parts_continue_each_other(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Tus, "a").await;
    assert_eq!(add(seed, id, 1, 5).await, AddPart::WrongOffset(0));
    assert_eq!(add(seed, id, 0, 10).await, ADDED);
    assert_eq!(add(seed, id, 0, 11).await, AddPart::WrongOffset(10));
    assert_eq!(add(seed, id, 10, 20).await, ADDED);
    let found = state(seed, ann, Tus, "a").await.unwrap();
    assert_eq!(found.parts, [part(id, 0, 10), part(id, 10, 20)]);
    assert_eq!((found.received_bytes(), found.touched_at), (30, second(2)));
}

pub(crate) async fn chunks_arrive_in_any_order_and_replace(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Chunked, "a").await;
    for number in [3, 1, 2] {
        assert_eq!(add(seed, id, number, 10).await, ADDED);
    }
    let replaced = Some(part(id, 1, 10).file);
    assert_eq!(add(seed, id, 1, 15).await, AddPart::Added { replaced });
    let found = state(seed, ann, Chunked, "a").await.unwrap();
    assert_eq!(found.parts, [part(id, 1, 15), part(id, 2, 10), part(id, 3, 10)]);
    assert_eq!(stored(seed, ann).await, 35);
    assert_eq!(seed.store().remove_part(id, 2).await.unwrap(), Some(part(id, 2, 10).file));
    assert_eq!(seed.store().remove_part(id, 2).await.unwrap(), None);
    assert_eq!(state(seed, ann, Chunked, "a").await.unwrap().parts, [part(id, 1, 15), part(id, 3, 10)]);
    assert_eq!(stored(seed, ann).await, 25);
}

pub(crate) async fn parts_count_as_stored(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    let (one, two) = (begin(seed, ann, Tus, "a").await, begin(seed, ann, Tus, "b").await);
    assert_eq!(stored(seed, ann).await, 0, "announced bytes do not count");
    add(seed, one, 0, 10).await;
    add(seed, two, 0, 7).await;
    assert_eq!((stored(seed, ann).await, stored(seed, ben).await), (17, 0));
    seed.store().finish_upload(one, "done", second(3)).await.unwrap();
    assert_eq!(stored(seed, ann).await, 7);
    seed.store().delete_upload(two).await.unwrap();
    assert_eq!(stored(seed, ann).await, 0);
    assert_eq!(stored(seed, AccountId(9_999_999)).await, 0);
}

pub(crate) async fn parts_do_not_exceed_the_quota(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Chunked, "a").await;
    let add =
        async |number, bytes| seed.store().add_part(id, part(id, number, bytes), Some(100)).await.unwrap();
    assert_eq!(add(1, 60).await, ADDED);
    assert_eq!(add(2, 41).await, AddPart::QuotaExceeded);
    assert_eq!(add(2, 40).await, ADDED);
    assert_eq!(add(1, 61).await, AddPart::QuotaExceeded, "the part that it would replace stays");
    assert_eq!(add(1, 59).await, AddPart::Added { replaced: Some(part(id, 1, 60).file) });
    let found = state(seed, ann, Chunked, "a").await.unwrap();
    assert_eq!((found.parts, stored(seed, ann).await), (vec![part(id, 1, 59), part(id, 2, 40)], 99));
}

pub(crate) async fn concurrent_parts_do_not_exceed_the_quota(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Chunked, "a").await;
    let writers = (0..32).map(|number| {
        let store = seed.store().clone();
        async move { store.add_part(id, part(id, number, 10), Some(55)).await.unwrap() }
    });
    let outcomes = concurrently(writers).await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == ADDED).count(), 5);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == AddPart::QuotaExceeded).count(), 27);
    assert_eq!(stored(seed, ann).await, 50);
}

pub(crate) async fn a_finished_upload_stays_known_with_its_result(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Tus, "a").await;
    add(seed, id, 0, 60).await;
    add(seed, id, 60, 40).await;
    let mut files = seed.store().finish_upload(id, "imported x", second(3)).await.unwrap();
    files.sort();
    assert_eq!(files, [part(id, 0, 60).file, part(id, 60, 40).file]);
    assert_eq!(seed.store().finish_upload(id, "duplicate x", second(4)).await.unwrap(), [""; 0]);
    let found = state(seed, ann, Tus, "a").await.unwrap();
    assert_eq!((found.result.as_deref(), found.touched_at), (Some("imported x"), second(3)));
    assert_eq!((found.parts.len(), found.received_bytes()), (0, 100));
    assert_eq!(add(seed, id, 100, 1).await, AddPart::NoUpload);
    assert_eq!(seed.store().known_part_files(&files).await.unwrap(), [""; 0]);
}

pub(crate) async fn a_deleted_upload_is_gone(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Tus, "a").await;
    add(seed, id, 0, 10).await;
    assert_eq!(seed.store().delete_upload(id).await.unwrap(), [part(id, 0, 10).file]);
    assert_eq!(seed.store().delete_upload(id).await.unwrap(), [""; 0]);
    assert_eq!(state(seed, ann, Tus, "a").await, None);
    assert_eq!(add(seed, id, 0, 10).await, AddPart::NoUpload);
    assert_eq!(seed.store().finish_upload(id, "done", second(3)).await.unwrap(), [""; 0]);
}

pub(crate) async fn unfinished_uploads_and_parts_are_limited(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let first = begin(seed, ann, Tus, "0").await;
    for number in 1..MAX_UPLOADS {
        begin(seed, ann, Tus, &number.to_string()).await;
    }
    let outcome = async |protocol| seed.store().begin_upload(new(ann, protocol, "more")).await.unwrap();
    assert_eq!(outcome(Tus).await, BeginUpload::TooMany);
    assert!(matches!(outcome(Chunked).await, BeginUpload::Begun(_)), "each protocol has its own limit");
    seed.store().finish_upload(first, "done", second(2)).await.unwrap();
    let BeginUpload::Begun(more) = outcome(Tus).await else { panic!("a finished upload does not count") };
    for number in 0..u64::from(MAX_UPLOAD_PARTS) {
        assert_eq!(add(seed, more, number, 1).await, ADDED);
    }
    assert_eq!(add(seed, more, u64::from(MAX_UPLOAD_PARTS), 1).await, AddPart::TooMany);
    assert_eq!(stored(seed, ann).await, u64::from(MAX_UPLOAD_PARTS));
}

pub(crate) async fn the_newest_finished_uploads_stay_known(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    let finish = async |account, protocol, name: &str, at| {
        let id = begin(seed, account, protocol, name).await;
        seed.store().finish_upload(id, "done", second(at)).await.unwrap();
    };
    finish(ben, Tus, "0", 1).await;
    finish(ann, Chunked, "0", 1).await;
    begin(seed, ann, Tus, "unfinished").await;
    for number in 0..=MAX_FINISHED_UPLOADS {
        // Many of them finish at the same time.
        finish(ann, Tus, &number.to_string(), i64::from(number / 100)).await;
    }
    assert_eq!(state(seed, ann, Tus, "0").await, None);
    for (account, protocol, name) in
        [(ann, Tus, "1"), (ann, Tus, "unfinished"), (ann, Chunked, "0"), (ben, Tus, "0")]
    {
        assert!(state(seed, account, protocol, name).await.is_some(), "{protocol:?} {name}");
    }
    assert!(state(seed, ann, Tus, &MAX_FINISHED_UPLOADS.to_string()).await.is_some());
}

pub(crate) async fn idle_uploads_are_swept_in_batches(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let id = begin(seed, ann, Tus, name).await;
        assert_eq!(add(seed, id, 0, 10).await, ADDED);
        ids.push(id);
    }
    let chunked = begin(seed, ann, Chunked, "a").await;
    let touched = UploadPart { received_at: second(5), ..part(ids[2], 10, 1) };
    assert_eq!(seed.store().add_part(ids[2], touched, None).await.unwrap(), ADDED);
    let sweep = async |max| seed.store().sweep_uploads(Tus, second(3), max).await.unwrap();
    assert_eq!(sweep(1).await, SweptUploads { uploads: 1, files: vec![part(ids[0], 0, 10).file] });
    assert_eq!(sweep(9).await, SweptUploads { uploads: 1, files: vec![part(ids[1], 0, 10).file] });
    assert_eq!(sweep(9).await, SweptUploads::default());
    assert!(state(seed, ann, Tus, "c").await.is_some());
    assert_eq!(state(seed, ann, Chunked, "a").await.unwrap().id, chunked);
    assert_eq!(stored(seed, ann).await, 11);
    seed.store().finish_upload(ids[2], "done", second(6)).await.unwrap();
    assert_eq!(seed.store().sweep_uploads(Tus, second(6), 9).await.unwrap().uploads, 0);
    assert_eq!(
        seed.store().sweep_uploads(Tus, second(7), 9).await.unwrap().uploads,
        1,
        "a finished upload expires too"
    );
}

pub(crate) async fn uploads_of_a_deleted_account_are_gone_and_swept(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await.account, seed.account(Plan::Paid).await.account);
    let id = begin(seed, ann, Tus, "a").await;
    add(seed, id, 0, 10).await;
    begin(seed, ben, Tus, "a").await;
    seed.store().delete_account(ann, second(3)).await.unwrap();
    assert_eq!(state(seed, ann, Tus, "a").await, None);
    assert_eq!(add(seed, id, 10, 10).await, AddPart::NoUpload);
    let begun = seed.store().begin_upload(new(ann, Tus, "b")).await.unwrap();
    assert_eq!(begun, BeginUpload::AccountGone);
    let swept = seed.store().sweep_uploads(Tus, second(-99), 9).await.unwrap();
    assert_eq!(swept, SweptUploads { uploads: 1, files: vec![part(id, 0, 10).file] });
    assert!(state(seed, ben, Tus, "a").await.is_some());
}

pub(crate) async fn files_of_parts_are_known(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Chunked, "a").await;
    add(seed, id, 1, 10).await;
    add(seed, id, 2, 10).await;
    let asked = [part(id, 2, 10).file, "part-unknown".to_owned()];
    assert_eq!(seed.store().known_part_files(&asked).await.unwrap(), [part(id, 2, 10).file]);
    assert_eq!(seed.store().known_part_files(&[]).await.unwrap(), [""; 0]);
}

pub(crate) async fn only_one_of_concurrent_parts_at_one_offset_is_added(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let id = begin(seed, ann, Tus, "a").await;
    for offset in [0, 1, 2, 3] {
        let writers = (0..8).map(|writer| {
            let (store, file) = (seed.store().clone(), format!("part-{offset}-{writer}"));
            async move { store.add_part(id, UploadPart { file, ..part(id, offset, 1) }, None).await.unwrap() }
        });
        let outcomes = concurrently(writers).await;
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == ADDED).count(), 1);
        let others = outcomes.iter().filter(|outcome| **outcome == AddPart::WrongOffset(offset + 1));
        assert_eq!(others.count(), 7);
    }
    assert_eq!(stored(seed, ann).await, 4);
}

pub(crate) async fn only_one_of_concurrent_uploads_of_one_name_begins(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await.account;
    let begun = concurrently((0..8).map(|_| {
        let store = seed.store().clone();
        async move { store.begin_upload(new(ann, Chunked, "a")).await.unwrap() }
    }))
    .await;
    assert_eq!(begun.iter().filter(|outcome| matches!(outcome, BeginUpload::Begun(_))).count(), 1);
}
