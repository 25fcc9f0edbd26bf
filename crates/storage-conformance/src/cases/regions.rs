use std::sync::Arc;

use domain::{EditId, Filter, ImageId, Plan, Position};
use storage::{
    ChangeImage, ChangedPlace, Edit, ImageChange, ImageToChange, ImagesToEdit, IndexedImage, Lookup,
    NameKind, UndoCursor, Viewer,
};

use crate::{
    DECODERS, Photo, Seed,
    cases::{
        integrity::assert_sound,
        reindex::{outdated_job, reindexed},
    },
    queries::{delete, filtered, second},
};

fn munich(at: i64) -> Photo {
    Photo::at_second(at).place("Munich, Germany").position(48.137, 11.575)
}

fn berlin(at: i64) -> Photo {
    Photo::at_second(at).place("Berlin, Germany").position(52.516, 13.377)
}

fn lisbon(at: i64) -> Photo {
    Photo::at_second(at).place("Lisbon, Portugal").position(38.722, -9.139)
}

/// The images in one of these regions.
async fn within(seed: &Seed, viewer: Viewer, regions: &[&str]) -> Vec<ImageId> {
    let regions = regions.iter().map(|name| (*name).to_owned()).collect();
    filtered(seed, viewer, Filter { regions: Some(regions), ..Filter::default() }).await
}

async fn place(seed: &Seed, viewer: Viewer, name: &str, id: &ImageId, place: ChangedPlace) {
    let change: ChangeImage = Arc::new(move |_: &ImageToChange| {
        Some(ImageChange { place: Some(place.clone()), ..ImageChange::default() })
    });
    let edit = Edit { id: EditId::parse(name).unwrap(), at: second(0), author: None };
    let images = ImagesToEdit::Every(vec![id.clone()]);
    let found = seed.store().edit_images(viewer, &edit, images, change, false).await.unwrap();
    assert!(matches!(found, Lookup::Found(edited) if edited.changed.len() == 1));
}

pub(crate) async fn images_are_listed_by_region_and_country(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let at_sea = Photo::at_second(4).position(30.0, -40.0);
    let ids = seed.images(ann.account, vec![munich(1), berlin(2), lisbon(3), at_sea, munich(5)]).await;
    seed.image(ben.account, munich(1)).await;
    let check = async |regions: &[&str], expected: &[usize]| {
        let expected: Vec<ImageId> = expected.iter().map(|at| ids[*at].clone()).collect();
        assert_eq!(within(seed, ann, regions).await, expected, "{regions:?}");
    };
    check(&["Bavaria, Germany"], &[4, 0]).await;
    check(&["Germany"], &[4, 1, 0]).await;
    check(&["Portugal"], &[2]).await;
    check(&["Bavaria, Germany", "Portugal"], &[4, 2, 0]).await;
    check(&["Bavaria, Germany", "Lisbon, Portugal", "Berlin, Germany"], &[4, 2, 1, 0]).await;
    check(&["Spain"], &[]).await;
    check(&[], &[]).await;
    let at = |place: &str| Filter {
        places: Some(vec![place.to_owned()]),
        regions: Some(vec!["Bavaria, Germany".to_owned()]),
        ..Filter::default()
    };
    assert_eq!(filtered(seed, ann, at("Munich, Germany")).await, [ids[4].clone(), ids[0].clone()]);
    assert_eq!(filtered(seed, ann, at("Berlin, Germany")).await, []);
    let names = async || seed.store().names(ann, NameKind::Region, 10).await.unwrap();
    let mut found = names().await;
    assert_eq!(
        found[..2].iter().map(String::as_str).collect::<std::collections::BTreeSet<_>>(),
        ["Bavaria, Germany", "Germany"].into()
    );
    found.sort();
    assert_eq!(found, ["Bavaria, Germany", "Berlin, Germany", "Germany", "Lisbon, Portugal", "Portugal"]);
    delete(seed, ann, &ids[4], second(9)).await;
    check(&["Bavaria, Germany"], &[0]).await;
    assert!(seed.store().restore_image(ann.account, &ids[4]).await.unwrap());
    check(&["Bavaria, Germany"], &[4, 0]).await;
    assert_sound(seed).await;
}

pub(crate) async fn regions_follow_the_position(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let id = seed.image(ann.account, munich(1)).await;
    let check = async |region: &str, country: &str| {
        for (name, others) in
            [("Bavaria, Germany", "Germany"), ("Lisbon, Portugal", "Portugal"), ("Berlin, Germany", "")]
        {
            assert_eq!(within(seed, ann, &[name]).await.len(), usize::from(name == region), "{name}");
            if !others.is_empty() {
                assert_eq!(
                    within(seed, ann, &[others]).await.len(),
                    usize::from(others == country),
                    "{others}"
                );
            }
        }
    };
    check("Bavaria, Germany", "Germany").await;
    let lisbon_now = ChangedPlace {
        position: Position::new(38.722, -9.139).ok(),
        place: Some("Lisbon, Portugal".to_owned()),
    };
    place(seed, ann, "moved", &id, lisbon_now).await;
    check("Lisbon, Portugal", "Portugal").await;
    place(seed, ann, "cleared", &id, ChangedPlace { position: None, place: None }).await;
    check("", "").await;
    for (name, region, country) in
        [("cleared", "Lisbon, Portugal", "Portugal"), ("moved", "Bavaria, Germany", "Germany")]
    {
        let edit = EditId::parse(name).unwrap();
        seed.store().undo_edit(ann, &edit, UndoCursor::default(), 9).await.unwrap();
        check(region, country).await;
    }
    // The file, or a sidecar, has another position now.
    let job = outdated_job(seed, "w", &id).await;
    let found = IndexedImage { decoder_version: DECODERS, ..reindexed(&berlin(7)) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    check("Berlin, Germany", "Germany").await;
    assert_sound(seed).await;
    while seed.store().fill_regions(10).await.unwrap() > 0 {}
    assert_eq!(seed.store().fill_regions(10).await.unwrap(), 0);
    check("Berlin, Germany", "Germany").await;
}
