use std::sync::Arc;

use domain::{
    Correction, EditId, EditedField, Filter, Image, ImageId, Keyword, Keywords, KeywordsEdit, ListQuery,
    LocalRange, Marks, MarksEdit, Plan, Rating, Selection, Timestamp,
};
use storage::{
    ChangeImage, Edit, EditedImages, FileContent, FileEntry, FileKind, FilePosition, ImageChange,
    ImageToChange, ImagesToEdit, ListedEdit, Lookup, NameKind, SelectionCount, TimelineOrder, UndoCursor,
    Viewer,
};

use crate::{
    DECODERS, Photo, Seed,
    cases::{
        integrity::assert_sound,
        reindex::{outdated_job, reindexed},
    },
    file_tree::Files,
    queries::{
        circle, delete, filtered, limit, matching, newest_first, page, second, seconds, timeline,
        visible_image,
    },
};

fn keywords(list: &[&str]) -> Keywords {
    Keywords::parse(list.iter().copied()).unwrap()
}

fn marked(favorite: bool, stars: u8, words: &[&str], archived: bool) -> Marks {
    Marks { favorite, rating: Rating::new(stars).ok(), keywords: keywords(words), archived }
}

fn favorites() -> MarksEdit {
    MarksEdit { favorite: Correction::Set(true), ..MarksEdit::default() }
}

fn archive(archived: bool) -> MarksEdit {
    MarksEdit { archived: Correction::Set(archived), ..MarksEdit::default() }
}

fn with_keywords(words: &[&str]) -> MarksEdit {
    let (add, remove) = (keywords(words), Keywords::default());
    MarksEdit { keywords: KeywordsEdit::Change { add, remove }, ..MarksEdit::default() }
}

fn applied(edit: MarksEdit) -> ChangeImage {
    Arc::new(move |image: &ImageToChange| {
        let marks = Some(edit.applied(&image.present.marks, &image.of_file.marks));
        Some(ImageChange { marks, ..ImageChange::default() })
    })
}

fn edit(name: &str, author: Option<&str>) -> Edit {
    let at = second(name.bytes().map(i64::from).sum());
    Edit { id: EditId::parse(name).unwrap(), at, author: author.map(str::to_owned) }
}

async fn mark(seed: &Seed, viewer: Viewer, name: &str, ids: &[ImageId], marks: MarksEdit) -> EditedImages {
    let every = ImagesToEdit::Every(ids.to_vec());
    let found = seed.store().edit_images(viewer, &edit(name, None), every, applied(marks), false).await;
    let Lookup::Found(edited) = found.unwrap() else { panic!("not visible") };
    edited
}

async fn undo(seed: &Seed, viewer: Viewer, name: &str) -> u32 {
    let (mut undone, mut cursor) = (0, UndoCursor::default());
    loop {
        let id = EditId::parse(name).unwrap();
        let step = seed.store().undo_edit(viewer, &id, cursor, 2).await.unwrap();
        undone += step.undone;
        match step.next {
            Some(next) => cursor = next,
            None => return undone,
        }
    }
}

async fn marks(seed: &Seed, viewer: Viewer, id: &ImageId) -> Marks {
    visible_image(seed, viewer, id).await.marks
}

fn keyword(text: &str) -> Filter {
    Filter { keyword: Some(Keyword::parse(text).unwrap()), ..Filter::default() }
}

pub(crate) async fn marks_of_files_are_shown_until_people_change_them(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let photo = Photo::at_second(1).marks(marked(true, 3, &["Sea", "Boat"], false));
    let id = seed.image(ann.account, photo.clone()).await;
    assert_eq!(marks(seed, ann, &id).await, photo.marks);
    assert_eq!(matching(seed, ann, &["boat"]).await, std::slice::from_ref(&id));
    assert_eq!(filtered(seed, ann, keyword("SEA")).await, std::slice::from_ref(&id));
    assert_sound(seed).await;
    let rated = MarksEdit { rating: Correction::Set(Rating::new(5).unwrap()), ..with_keywords(&["Storm"]) };
    let edited = mark(seed, ann, "one", std::slice::from_ref(&id), rated).await;
    assert_eq!(edited.changed.len(), 1);
    assert_eq!(
        (&edited.changed[0].1.marks, &edited.changed[0].2.marks),
        (&photo.marks, &marked(true, 5, &["Sea", "Boat", "Storm"], false))
    );
    // What people set stays, and the rest follows the file.
    let job = outdated_job(seed, "w", &id).await;
    let newer = Photo::at_second(1).marks(marked(false, 1, &["Pier"], true));
    let found = storage::IndexedImage { decoder_version: DECODERS, ..reindexed(&newer) };
    assert!(seed.store().complete_job(job.id, "w", found).await.unwrap());
    assert_eq!(marks(seed, ann, &id).await, marked(false, 5, &["Sea", "Boat", "Storm"], true));
    assert_eq!(filtered(seed, ann, Filter { archived: Some(true), ..Filter::default() }).await.len(), 1);
    assert_sound(seed).await;
    assert_eq!(undo(seed, ann, "one").await, 1);
    assert_eq!(marks(seed, ann, &id).await, newer.marks, "what the file says now");
    assert_eq!(matching(seed, ann, &["storm"]).await, []);
    assert_eq!(matching(seed, ann, &["pier"]).await, std::slice::from_ref(&id));
    assert_sound(seed).await;
}

pub(crate) async fn each_mark_filters_lists(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = |at: i64| Photo::at_second(at).position(10.0, 20.0).place("Here, Nowhere").description("sea");
    let of = [
        photo(1).marks(marked(true, 0, &["Garden"], false)),
        photo(2).marks(marked(false, 2, &["garden", "Rose"], true)),
        photo(3).place("There, Nowhere"),
        photo(4).marks(marked(true, 0, &[], true)).camera(Some("Canon"), Some("Canon EOS R5")),
    ];
    let ids = seed.images(ann.account, of.to_vec()).await;
    seed.image(ben.account, photo(5).marks(marked(true, 0, &["Garden"], true))).await;
    let album = seed.album(ann, "Some", &[ids[0].clone(), ids[2].clone(), ids[3].clone()]).await;
    let all = Filter::default;
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let near = Some(circle(10.0, 20.0, 1000.0));
    let cases = [
        (Filter { favorite: Some(true), ..all() }, vec![3, 0]),
        (Filter { favorite: Some(false), ..all() }, vec![2, 1]),
        (Filter { archived: Some(true), ..all() }, vec![3, 1]),
        (Filter { archived: Some(false), ..all() }, vec![2, 0]),
        (keyword("garden"), vec![1, 0]),
        (Filter { archived: Some(false), ..keyword("garden") }, vec![0]),
        (Filter { favorite: Some(true), ..keyword("rose") }, vec![]),
        (keyword("absent"), vec![]),
        (Filter { favorite: Some(true), archived: Some(true), ..all() }, vec![3]),
        (Filter { favorite: Some(true), album: Some(album.clone()), ..all() }, vec![3, 0]),
        (Filter { favorite: Some(true), circle: near, ..all() }, vec![3, 0]),
        (Filter { favorite: Some(true), range: seconds(2, 9), ..all() }, vec![3]),
        (Filter { places: names(&["Here, Nowhere"]), ..all() }, vec![3, 1, 0]),
        (Filter { places: names(&["Here, Nowhere", "There, Nowhere"]), ..all() }, vec![3, 2, 1, 0]),
        (Filter { places: names(&[]), ..all() }, vec![]),
        (Filter { cameras: names(&["Canon EOS R5", "Acme Pinhole 1"]), ..all() }, vec![3, 2, 1, 0]),
        (Filter { cameras: names(&["Canon EOS R5"]), favorite: Some(true), ..all() }, vec![3]),
    ];
    for (filter, expected) in cases {
        let expected: Vec<ImageId> = expected.into_iter().map(|at: usize| ids[at].clone()).collect();
        assert_eq!(filtered(seed, ann, &filter).await, expected, "{filter:?}");
        let query = ListQuery { limit: limit(100), filter: filter.clone(), ..ListQuery::default() };
        assert_eq!(page(seed, ann, query).await, expected, "{filter:?}");
        let newest = seed.store().filter_images(ann, &filter, limit(1)).await.unwrap();
        assert_eq!(newest.len(), expected.len().min(1), "{filter:?}");
        let found = crate::queries::matches_in(
            seed,
            ann,
            &["sea"],
            storage::TextColumns::ContentAndContext,
            filter.clone(),
        )
        .await;
        assert_eq!(found.len(), expected.len(), "{filter:?}");
    }
    // The marks follow the image.
    delete(seed, ann, &ids[0], second(9)).await;
    assert_eq!(filtered(seed, ann, keyword("garden")).await, [ids[1].clone()]);
    assert_sound(seed).await;
    assert!(seed.store().restore_image(ann.account, &ids[0]).await.unwrap());
    assert_eq!(filtered(seed, ann, keyword("garden")).await.len(), 2);
    assert_sound(seed).await;
}

/// Whichever list a filter reads, the images are the same. Most lists here are too long to be counted to their end at first.
pub(crate) async fn long_lists_are_filtered(seed: &Seed) {
    const COUNT: i64 = 1200;
    let ann = seed.account(Plan::Paid).await;
    let is = |at: i64, every: i64| at % every == 0;
    let photo = |at: i64| {
        let mut words = if is(at, 2) { vec!["Even"] } else { vec![] };
        words.extend(is(at, 400).then_some("Rare"));
        let place = if is(at, 5) { "Here, Nowhere" } else { "There, Nowhere" };
        let model = if is(at, 7) { "Canon EOS R5" } else { "Canon EOS R6" };
        let photo = Photo::at_second(at).marks(marked(!is(at, 3), 0, &words, is(at, 100)));
        photo.place(place).camera(Some("Canon"), Some(model))
    };
    let ids = seed.images(ann.account, (0..COUNT).map(photo).collect()).await;
    let names = |name: &str| Some(vec![name.to_owned()]);
    let word = |word: &str| Some(Keyword::parse(word).unwrap());
    let all = Filter::default;
    type Passes = fn(i64) -> bool;
    let cases: [(Filter, Passes); 7] = [
        (
            Filter {
                regions: names("Nowhere"),
                cameras: names("Canon EOS R5"),
                favorite: Some(true),
                ..all()
            },
            |at| at % 7 == 0 && at % 3 != 0,
        ),
        (Filter { favorite: Some(true), keyword: word("even"), ..all() }, |at| at % 3 != 0 && at % 2 == 0),
        (Filter { favorite: Some(true), keyword: word("rare"), ..all() }, |at| at % 3 != 0 && at % 400 == 0),
        (
            Filter { favorite: Some(true), places: names("Here, Nowhere"), archived: Some(false), ..all() },
            |at| at % 3 != 0 && at % 5 == 0 && at % 100 != 0,
        ),
        (
            Filter {
                keyword: word("even"),
                cameras: names("Canon EOS R6"),
                places: names("There, Nowhere"),
                ..all()
            },
            |at| at % 2 == 0 && at % 7 != 0 && at % 5 != 0,
        ),
        (
            Filter {
                favorite: Some(true),
                cameras: names("Canon EOS R5"),
                range: seconds(100, 900),
                ..all()
            },
            |at| at % 3 != 0 && at % 7 == 0 && (100..=900).contains(&at),
        ),
        (Filter { archived: Some(true), keyword: word("even"), favorite: Some(false), ..all() }, |at| {
            at % 300 == 0
        }),
    ];
    for (filter, passes) in cases {
        let passing = (0..COUNT).rev().filter(|at| passes(*at));
        let expected: Vec<ImageId> =
            passing.take(100).map(|at| ids[usize::try_from(at).unwrap()].clone()).collect();
        let query = ListQuery { limit: limit(100), filter: filter.clone(), ..ListQuery::default() };
        assert_eq!(page(seed, ann, query).await, expected, "{filter:?}");
    }
}

pub(crate) async fn the_timeline_hides_archived_photos(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=5).map(Photo::at_second).collect()).await;
    let visible = async || -> Vec<ImageId> {
        let order = TimelineOrder::NewestFirst;
        let found = seed.store().timeline_page(ann, LocalRange::ALL, order, 100).await.unwrap();
        found.into_iter().map(|image: Image| image.id).collect()
    };
    let counted = async || -> u32 {
        let months = seed.store().timeline_months(ann).await.unwrap();
        months.iter().map(|month| month.photos).sum()
    };
    let (some, rest) = ([ids[1].clone(), ids[2].clone()], [ids[4].clone(), ids[3].clone(), ids[0].clone()]);
    assert_eq!(mark(seed, ann, "archive", &some, archive(true)).await.changed.len(), 2);
    assert_eq!((visible().await, counted().await), (rest.to_vec(), 3));
    assert_eq!(timeline(seed, ann).await, newest_first(&ids), "lists of programs have them");
    let context = seed.store().photo_context(ann, &ids[3], None).await.unwrap();
    assert_eq!((context.previous, context.next), (Some(ids[4].clone()), Some(ids[0].clone())));
    // Ranges are chosen in the timeline, so they leave archived photos out.
    let everything = Selection::everything();
    let SelectionCount { count, .. } = seed.store().count_selection(ann, &everything).await.unwrap();
    assert_eq!(count, 3);
    let range =
        ImagesToEdit::Range { range: LocalRange::ALL, newest_first: true, selection: everything, max: 9 };
    let found = seed.store().edit_images(ann, &edit("all", None), range, applied(favorites()), false).await;
    assert!(matches!(found.unwrap(), Lookup::Found(edited) if edited.changed.len() == 3));
    assert_sound(seed).await;
    delete(seed, ann, &ids[1], second(9)).await;
    assert!(seed.store().restore_image(ann.account, &ids[1]).await.unwrap());
    assert_eq!(counted().await, 3);
    assert_eq!(mark(seed, ann, "show", &some, archive(false)).await.changed.len(), 2);
    assert_eq!((visible().await, counted().await), (newest_first(&ids), 5));
    assert_sound(seed).await;
}

pub(crate) async fn an_edit_of_marks_is_tried_made_listed_and_undone(seed: &Seed) {
    let ann = seed.account(Plan::Paid).await;
    let ids = seed.images(ann.account, (1..=5).map(Photo::at_second).collect()).await;
    let before = seed.store().images(ann, &ids).await.unwrap();
    let every = || ImagesToEdit::Every(ids.clone());
    let change = MarksEdit { favorite: Correction::Set(true), ..with_keywords(&["Trip"]) };
    let by_app = edit("by-app", Some("Claude"));
    let tried = seed.store().edit_images(ann, &by_app, every(), applied(change.clone()), true).await.unwrap();
    assert!(matches!(tried, Lookup::Found(edited) if edited.changed.len() == 5));
    assert_eq!(seed.store().images(ann, &ids).await.unwrap(), before, "a trial changes nothing");
    let edits = async || seed.store().edits(ann.account, Timestamp::MAX, 10).await.unwrap();
    assert_eq!(edits().await, []);
    let made = seed.store().edit_images(ann, &by_app, every(), applied(change), false).await.unwrap();
    assert!(matches!(made, Lookup::Found(edited) if edited.changed.len() == 5));
    let fields = vec![EditedField::Favorite, EditedField::Keywords];
    assert_eq!(edits().await, [ListedEdit { edit: by_app.clone(), fields: fields.clone(), images: 5 }]);
    // A later edit of another mark does not hinder undoing; one of the same mark keeps its value.
    let later = mark(seed, ann, "later", &ids[..1], archive(true)).await;
    assert_eq!(later.changed.len(), 1);
    let unset = MarksEdit { favorite: Correction::Set(false), ..MarksEdit::default() };
    mark(seed, ann, "unset", &ids[1..2], unset).await;
    assert_eq!(undo(seed, ann, "by-app").await, 5);
    assert_eq!(marks(seed, ann, &ids[0]).await, marked(false, 0, &[], true));
    assert_eq!(marks(seed, ann, &ids[1]).await, Marks::default());
    assert_eq!(seed.store().images(ann, &ids[2..]).await.unwrap(), before[2..]);
    let listed = edits().await;
    // The mark that was changed again later can still be undone after that change.
    assert_eq!(listed.iter().find(|listed| listed.edit == by_app).map(|listed| listed.images), Some(1));
    assert_eq!(undo(seed, ann, "by-app").await, 0);
    assert_eq!(undo(seed, ann, "later").await, 1);
    assert_sound(seed).await;
    // An unknown image stops the whole edit.
    let mut with_unknown = ids.clone();
    with_unknown.push(seed.image_id());
    let every = ImagesToEdit::Every(with_unknown);
    let found = seed.store().edit_images(ann, &edit("none", None), every, applied(favorites()), false).await;
    assert_eq!(found.unwrap(), Lookup::Missing);
    assert_eq!(seed.store().images(ann, &ids).await.unwrap(), before);
    assert_eq!(seed.store().forget_edits(second(0), 10).await.unwrap(), 0);
    while seed.store().forget_edits(Timestamp::MAX, 1).await.unwrap() > 0 {}
    assert_eq!(edits().await, []);
    assert_sound(seed).await;
}

pub(crate) async fn files_show_favourites(seed: &Seed) {
    let ann = Files::new(seed).await;
    ann.photo("a.jpg").await;
    ann.photo("b.jpg").await;
    ann.index().await;
    let id = ann.image_id("a.jpg").await;
    let favourites = async || {
        let is = |entry: &FileEntry| matches!(&entry.kind, FileKind::File(FileContent::Photo { image: Some(image), .. }) if image.is_favorite);
        let listed = ann.list("").await.members;
        let recent =
            ann.store().recent_files(ann.account(), Timestamp::MIN, FilePosition::after(Timestamp::MAX), 9);
        let recent: Vec<FileEntry> = recent.await.unwrap().files.into_iter().map(|file| file.entry).collect();
        let names = |entries: &[FileEntry]| -> Vec<String> {
            let found = entries.iter().filter(|entry| is(entry)).filter_map(|entry| entry.name.as_ref());
            found.map(|name| name.as_str().to_owned()).collect()
        };
        assert_eq!(names(&listed), names(&recent));
        names(&listed)
    };
    assert_eq!(favourites().await, [""; 0]);
    mark(seed, ann.viewer, "favorite", std::slice::from_ref(&id), favorites()).await;
    assert_eq!(favourites().await, ["a.jpg"]);
    assert!(ann.image("a.jpg").await.unwrap().is_favorite);
    assert_eq!(undo(seed, ann.viewer, "favorite").await, 1);
    assert_eq!(favourites().await, [""; 0]);
}

pub(crate) async fn keywords_and_places_are_listed_by_their_newest_image(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = |at, words: &[&str], place: &str| {
        Photo::at_second(at).marks(marked(false, 0, words, false)).place(place).position(1.0, 2.0)
    };
    let of = [photo(1, &["Sea", "Boat"], "Here, Nowhere"), photo(2, &["sea"], "There, Nowhere")];
    let ids = seed.images(ann.account, of.to_vec()).await;
    seed.image(ben.account, photo(3, &["Other"], "Far, Away")).await;
    let names = async |kind| seed.store().names(ann, kind, 10).await.unwrap();
    assert_eq!(names(NameKind::Keyword).await, ["Sea", "Boat"]);
    assert_eq!(names(NameKind::Place).await, ["There, Nowhere", "Here, Nowhere"]);
    delete(seed, ann, &ids[0], second(9)).await;
    assert_eq!(names(NameKind::Keyword).await, ["Sea"]);
    assert_eq!(names(NameKind::Place).await, ["There, Nowhere"]);
}

pub(crate) async fn names_are_found_by_folded_texts(seed: &Seed) {
    let (ann, ben) = (seed.account(Plan::Paid).await, seed.account(Plan::Paid).await);
    let photo = |at, words: &[&str], place: &str| {
        Photo::at_second(at).marks(marked(false, 0, words, false)).place(place).position(48.137, 11.575)
    };
    let places = ["São Paulo, Brazil", "Sao Paulo, Angola", "São, Brazil"];
    let words = [["Été", "a, b"], ["ete", "ab"], ["_%", "été "]];
    let photos = (1..).zip(words.iter().zip(places)).map(|(at, (words, place))| photo(at, words, place));
    seed.images(ann.account, photos.collect()).await;
    seed.image(ben.account, photo(3, &["Other"], "Other, Away")).await;
    let like = async |kinds: &[NameKind], folded: &[&str]| {
        let folded: Vec<String> = folded.iter().map(|text| (*text).to_owned()).collect();
        seed.store().names_like(ann.account, kinds, &folded, 100).await.unwrap()
    };
    let check = async |kind, folded: &[&str], names: &[&str]| {
        let expected: Vec<_> = names.iter().map(|name| (kind, (*name).to_owned())).collect();
        assert_eq!(like(&[kind], folded).await, expected, "{folded:?}");
    };
    check(NameKind::Keyword, &["ete"], &["ete", "Été"]).await;
    check(NameKind::Keyword, &["ab"], &["a, b", "ab"]).await;
    check(NameKind::Keyword, &["a"], &[]).await;
    check(NameKind::Keyword, &[""], &["_%"]).await;
    check(NameKind::Keyword, &["other", "%"], &[]).await;
    check(NameKind::Place, &["saopaulo"], &["Sao Paulo, Angola", "São Paulo, Brazil"]).await;
    check(NameKind::Place, &["saopaulo\tbrazil"], &["São Paulo, Brazil"]).await;
    let texts = ["saopaulo", "saopaulo\tbrazil", "saopaulo"];
    check(NameKind::Place, &texts, &["Sao Paulo, Angola", "São Paulo, Brazil"]).await;
    check(NameKind::Place, &["sao", "saopaulo\tangola"], &["Sao Paulo, Angola", "São, Brazil"]).await;
    check(NameKind::Place, &["brazil", "saopaulo\tbra", "other"], &[]).await;
    check(NameKind::Region, &["brazil", "bavaria"], &["Bavaria, Germany", "Brazil"]).await;
    let from = async |kinds: &[NameKind], folded: &[&str], max| {
        let folded: Vec<String> = folded.iter().map(|text| (*text).to_owned()).collect();
        let found = seed.store().names_from(ann.account, kinds, &folded, max).await.unwrap();
        found.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
    };
    assert_eq!(
        from(&[NameKind::Place], &["saop", "sa"], 9).await,
        ["Sao Paulo, Angola", "São Paulo, Brazil", "São, Brazil"]
    );
    assert_eq!(from(&[NameKind::Place], &["sa"], 1).await.len(), 1);
    assert_eq!(from(&[NameKind::Keyword, NameKind::Region], &["b"], 9).await, ["Bavaria, Germany", "Brazil"]);
    assert_eq!(from(&[NameKind::Keyword], &["et"], 9).await, ["ete", "Été"]);
    assert_eq!(from(&[NameKind::Place, NameKind::Keyword], &["o", "%", "_"], 9).await, [""; 0]);
    let found = like(&[NameKind::Place, NameKind::Region], &["brazil", "saopaulo\tbrazil"]).await;
    let expected = [(NameKind::Place, "São Paulo, Brazil"), (NameKind::Region, "Brazil")];
    assert_eq!(found, expected.map(|(kind, name)| (kind, name.to_owned())));
    assert_eq!(like(&[], &["ete"]).await, []);
    assert_eq!(like(&[NameKind::Keyword], &[]).await, []);
}
