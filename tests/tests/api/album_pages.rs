//! The list of albums, and the page that adds photos to one.

use reqwest::Method;
use serde_json::json;
use tests::{
    SeedImage, TestAccount, TestApp,
    oauth::{HtmlForm, forms},
};

async fn album(app: &TestApp, account: &TestAccount, title: &str, ids: &[String]) -> String {
    let body = json!({"title": title, "imageIds": ids});
    app.post("/albums", &account.key, &body).await.expect(201).result()["id"].as_str().unwrap().to_owned()
}

/// The items of the list of albums, each up to its end.
fn items(page: &str) -> Vec<&str> {
    let list = page.split("<ul class=\"albums covers\">").nth(1).unwrap().split("</ul>").next().unwrap();
    list.split("<li").skip(1).collect()
}

/// The titles of the albums that the page shows.
fn titles(page: &str) -> Vec<String> {
    let shown = items(page).into_iter().filter(|item| !item.starts_with(" hidden"));
    let title =
        |item: &str| item.split("class=\"name\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    shown.map(title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn albums_are_found_and_ordered() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app
        .seed(&anna, vec![SeedImage::at("2024-03-01T10:00:00Z"), SeedImage::at("2024-07-14T10:00:00Z")])
        .await;
    let names = ["Zoo", "São Paulo", "Straße", "Lisbon", "a1", "a2", "a3", "a4", "a5"];
    let mut albums = Vec::new();
    for name in names {
        albums.push(album(&app, &anna, name, if name == "Zoo" { &ids } else { &[] }).await);
        app.clock.advance_ms(1_000);
    }
    let open = async |query: &str| browser.open(&format!("/albums{query}")).await.expect(200).text();
    let newest: Vec<&str> = names.into_iter().rev().collect();
    let page = open("").await;
    assert_eq!(titles(&page), newest);
    let zoo = items(&page)[8];
    assert!(zoo.contains("2 photos") && zoo.contains("March – July 2024"), "{zoo}");
    assert!(zoo.contains("srcset") || zoo.contains("<img"), "{zoo}");
    assert!(items(&page)[0].contains("No photos yet"), "{page}");

    let rename = json!({"title": "Zurich"});
    app.patch(&format!("/albums/{}", albums[0]), &anna.key, &rename).await.expect(200);
    assert_eq!(titles(&open("").await)[0], "Zurich", "it changed last");
    assert_eq!(titles(&open("?sort=created").await).last().unwrap(), "Zurich");
    let by_title = ["a1", "a2", "a3", "a4", "a5", "Lisbon", "São Paulo", "Straße", "Zurich"];
    assert_eq!(titles(&open("?sort=title").await), by_title);
    for (text, expected) in [("sao+p", vec!["São Paulo"]), ("STRASSE", vec!["Straße"]), ("nothing", vec![])]
    {
        let page = open(&format!("?q={text}")).await;
        assert_eq!(titles(&page), expected);
        let is_shown = page.contains("<p class=\"unfound\">");
        assert_eq!(is_shown, expected.is_empty(), "{page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn photos_of_several_pages_are_picked_for_an_album() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    // Newest first.
    let ids = app.seed(&anna, SeedImage::series(130)).await;
    let id = album(&app, &anna, "Sea & sand", &ids[3..4]).await;
    let path = format!("/albums/{id}/add");
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("Add to “Sea &amp; sand”") && page.contains("In the album"), "{page}");
    assert!(!page.contains(&format!("value=\"{}\"", ids[3])), "it is in the album already");
    let form = forms(&page).into_iter().find(|form| form.action == "/web/selection").unwrap();
    let csrf = form.fields["csrf"].clone();
    let older = page.split("name=\"to\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();

    let fields =
        [("csrf", &*csrf), ("image", &*ids[0]), ("image", &*ids[129]), ("image", "../x"), ("to", &*older)];
    let turned = browser.send(browser.request(Method::POST, &path).form(&fields)).await.expect(200).text();
    assert!(turned.contains("1 photo picked on other pages"), "{turned}");
    assert!(turned.contains(&format!("type=\"hidden\" name=\"image\" value=\"{}\"", ids[0])), "{turned}");
    let box_of = |id: &str| {
        let begin = format!("<input type=\"checkbox\" name=\"image\" value=\"{id}\"");
        turned.split(&begin).nth(1).unwrap().split('>').next().unwrap().to_owned()
    };
    assert!(box_of(&ids[129]).contains("checked") && !box_of(&ids[128]).contains("checked"));
    browser.send(browser.request(Method::POST, &path).form(&fields[1..])).await.expect(403);

    let back = format!("/albums/{id}");
    let fields = [
        ("csrf", &*csrf),
        ("action", "add_to_album"),
        ("album", &*id),
        ("return_to", &*back),
        ("image", &*ids[0]),
        ("image", &*ids[129]),
    ];
    let done = browser.send(browser.request(Method::POST, "/web/selection").form(&fields)).await.expect(303);
    assert_eq!(done.header("location"), Some(&*back));
    let page = browser.open(&back).await.expect(200).text();
    assert!(page.contains("3 photos") && page.contains(&format!("href=\"{path}\"")), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_photo_becomes_the_cover_on_its_page() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let ids = app
        .seed(&anna, vec![SeedImage::at("2024-03-01T10:00:00Z"), SeedImage::at("2024-07-14T10:00:00Z")])
        .await;
    let [older, newest] = [&ids[0], &ids[1]];
    let album = album(&app, &anna, "Walks", &ids).await;
    let cover = async || {
        app.get(&format!("/albums/{album}"), &anna.key).await.expect(200).result()["coverUrl"].to_string()
    };
    let button = |page: &str| {
        let is_cover = |form: &HtmlForm| form.action.starts_with("/albums/");
        forms(page).into_iter().find(is_cover)
    };
    let path = format!("/photos/{older}?in={album}");
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("aria-pressed=\"false\" title=\"Use as the cover\""), "{page}");
    let chosen = browser.submit("/", &button(&page).unwrap(), &[]).await.expect(303);
    assert_eq!(chosen.header("location").unwrap(), format!("{path}&done=cover"));
    assert!(cover().await.contains(older.as_str()));
    let page = browser.open(&format!("{path}&done=cover")).await.expect(200).text();
    assert!(page.contains("This photo is the cover of the album now."), "{page}");
    assert!(page.contains("aria-pressed=\"true\" title=\"Use as the cover\""), "{page}");
    let undone = browser.submit("/", &button(&page).unwrap(), &[]).await.expect(303);
    assert_eq!(undone.header("location").unwrap(), format!("{path}&done=newest-cover"));
    assert!(cover().await.contains(newest.as_str()));
    // Only a photo of the album can be its cover, and only in the album.
    let removal = json!({"removeImageIds": [older]});
    app.patch(&format!("/albums/{album}"), &anna.key, &removal).await.expect(200);
    for path in [path, format!("/photos/{newest}")] {
        let page = browser.open(&path).await.expect(200).text();
        assert!(button(&page).is_none(), "{page}");
    }
}

/// The ids of the photos on the page of an album, and those of the selected ones.
fn shown(page: &str) -> (Vec<&str>, Vec<&str>) {
    let items: Vec<&str> = page.split("data-id=\"").skip(1).filter(|item| item.contains("data-r=")).collect();
    let ids: Vec<&str> = items.iter().map(|item| item.split('"').next().unwrap()).collect();
    let is_selected = |item: &str| item.split("</li>").next().unwrap().contains(" checked");
    let selected = ids.iter().zip(&items).filter(|(_, item)| is_selected(item)).map(|(id, _)| *id).collect();
    (ids, selected)
}

#[tokio::test(flavor = "multi_thread")]
async fn many_picked_photos_enter_an_album_in_its_own_order_by_time() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    // Newest first.
    let ids = app.seed(&anna, SeedImage::series(310)).await;
    let id = album(&app, &anna, "Walks", &ids[..1]).await;
    let path = format!("/albums/{id}");
    let page = browser.open(&path).await.expect(200).text();
    let order = forms(&page).into_iter().find(|form| form.action == path).unwrap();
    browser.submit("/", &order, &[("order", "own")]).await.expect(303);
    let page = browser.open(&path).await.expect(200).text();
    let csrf =
        forms(&page).into_iter().find(|form| form.action == "/web/selection").unwrap().fields["csrf"].clone();
    // The oldest are picked first.
    let mut fields =
        vec![("csrf", &*csrf), ("action", "add_to_album"), ("album", &*id), ("return_to", &*path)];
    fields.extend(ids[1..].iter().rev().map(|image| ("image", image.as_str())));
    let added = browser.send(browser.request(Method::POST, "/web/selection").form(&fields)).await;
    added.expect(303);
    let page = browser.open(&path).await.expect(200).text();
    assert_eq!(shown(&page).0, ids[..60]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_album_is_put_in_its_own_order() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    // Newest first.
    let ids = app.seed(&anna, SeedImage::series(65)).await;
    let id = album(&app, &anna, "Walks", &ids).await;
    let path = format!("/albums/{id}");
    let page = browser.open(&path).await.expect(200).text();
    assert!(!page.contains("album-order.js") && !page.contains("Move earlier"), "{page}");
    let order = forms(&page).into_iter().find(|form| form.action == path).unwrap();
    browser.submit("/", &order, &[("order", "own")]).await.expect(303);
    let page = browser.open(&path).await.expect(200).text();
    assert!(page.contains("album-order.js") && page.contains("Order: my order"), "{page}");
    assert_eq!(shown(&page).0, ids[..60]);
    let csrf =
        forms(&page).into_iter().find(|form| form.action == "/web/selection").unwrap().fields["csrf"].clone();
    let second = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(second.starts_with(&format!("{path}?from=")), "{second}");
    assert_eq!(shown(&browser.open(&second).await.expect(200).text()).0, ids[60..]);

    let send = async |step: &str, back: &str, images: &[&String]| {
        let mut fields = vec![("csrf", &*csrf), ("step", step), ("return_to", back)];
        fields.extend(images.iter().map(|image| ("image", image.as_str())));
        browser.send(browser.request(Method::POST, &format!("{path}/move")).form(&fields)).await
    };
    let to = async |step: &str, back: &str, images: &[&String]| {
        let moved = send(step, back, images).await.expect(303);
        let location = moved.header("location").unwrap().to_owned();
        (browser.open(location.split('#').next().unwrap()).await.expect(200).text(), location)
    };
    let (page, location) = to("earlier", &path, &[&ids[2]]).await;
    assert_eq!(location, format!("{path}?moved={}#selected-photo", ids[2]));
    assert_eq!(
        shown(&page),
        (
            vec![&*ids[0], &*ids[2], &*ids[1]].into_iter().chain(ids[3..60].iter().map(|id| &**id)).collect(),
            vec![&*ids[2]]
        )
    );
    // The first photo of a page moves to the page before.
    let (page, location) = to("earlier", &second, &[&ids[60]]).await;
    assert!(location.contains("?from=") && !location.starts_with(&second), "{location}");
    assert_eq!(shown(&page).0[..2], [&*ids[60], &*ids[59]]);
    assert_eq!(shown(&page).1, [&*ids[60]]);
    let (page, _) = to("start", &second, &[&ids[63], &ids[64]]).await;
    assert_eq!(shown(&page).0[..3], [&*ids[63], &*ids[64], &*ids[0]]);
    to("end", &path, &[&ids[63]]).await;
    let (page, _) = to("later", &path, &[&ids[64], &ids[0]]).await;
    assert_eq!(shown(&page).0[..4], [&*ids[2], &*ids[64], &*ids[0], &*ids[1]]);

    for (step, images) in [("earlier", &[][..]), ("sideways", &[&ids[1]])] {
        let refused = send(step, &path, images).await.expect(400).text();
        assert!(refused.contains("Select photos, then move them."), "{refused}");
    }
    let removal = json!({"removeImageIds": [ids[62]]});
    app.patch(&format!("/albums/{id}"), &anna.key, &removal).await.expect(200);
    let refused = send("later", &second, &[&ids[61], &ids[62]]).await.expect(400).text();
    assert!(refused.contains("The album has changed meanwhile."), "{refused}");
    // The page and the selection stay.
    let (photos, selected) = shown(&refused);
    assert!(photos.contains(&&*ids[61]) && !photos.contains(&&*ids[0]), "{photos:?}");
    assert_eq!(selected, [&*ids[61]]);

    browser
        .send(browser.request(Method::POST, &format!("{path}/move")).form(&[("step", "end")]))
        .await
        .expect(403);
    browser.open(&format!("{path}/move")).await.expect(302);

    // The photos of the API stay in the order of their times.
    let listed = app.get(&format!("/images?albumId={id}&limit=100"), &anna.key).await.expect(200);
    assert_eq!(listed.ids(), ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_moves_photos_of_an_album() {
    let app = TestApp::start().await;
    let (anna, browser) = app.signed_in("anna").await;
    let (_, other) = app.signed_in("bert").await;
    let ids = app.seed(&anna, SeedImage::series(4)).await;
    let id = album(&app, &anna, "Walks", &ids).await;
    let path = format!("/albums/{id}");
    let page = browser.open(&path).await.expect(200).text();
    let form = |action: &str| forms(&page).into_iter().find(|form| form.action == action).unwrap();
    let token = form("/web/selection").fields["csrf"].clone();
    let send = async |moves: serde_json::Value| {
        let body = json!({"token": token, "moves": moves});
        browser.send(browser.request(Method::POST, &format!("{path}/move")).json(&body)).await
    };
    let to_the_end = json!([{"ids": [ids[1]]}]);
    send(to_the_end.clone()).await.expect(409);
    browser.submit("/", &form(&path), &[("order", "own")]).await.expect(303);
    let order = async || {
        let page = browser.open(&path).await.expect(200).text();
        let place = |id: &&str| ids.iter().position(|known| known == id).unwrap();
        shown(&page).0.iter().map(place).collect::<Vec<_>>()
    };
    let undo = send(to_the_end.clone()).await.expect(200).json["undo"].clone();
    assert_eq!((order().await, &undo), (vec![0, 2, 3, 1], &json!([{"ids": [ids[1]], "before": ids[2]}])));
    assert_eq!(send(to_the_end).await.expect(200).json, json!({"undo": []}));
    send(undo).await.expect(200);
    assert_eq!(order().await, [0, 1, 2, 3]);
    send(json!([{"ids": [ids[3], ids[0]], "before": ids[2]}, {"ids": [ids[1]]}])).await.expect(200);
    assert_eq!(order().await, [3, 0, 2, 1]);

    // The page that begins with a photo has the position of the answer.
    let body = json!({"token": token, "moves": [{"ids": [ids[2]], "before": ids[0]}], "first": ids[2]});
    let moving = browser.request(Method::POST, &format!("{path}/move")).json(&body);
    let from = browser.send(moving).await.expect(200).json["from"].as_i64().unwrap();
    let page = browser.open(&format!("{path}?from={from}")).await.expect(200).text();
    assert_eq!(shown(&page).0, [&ids[2], &ids[0], &ids[1]]);
    send(json!([{"ids": [ids[2]], "before": ids[1]}])).await.expect(200);

    send(json!([{"ids": [ids[0]], "before": "unknown"}])).await.expect(409);
    send(json!([{"ids": [ids[0], ids[0]]}])).await.expect(400);
    send(json!([{"ids": vec![&ids[0]; 101]}])).await.expect(400);
    send(json!("all")).await.expect(400);
    for without_ids in [json!([]), json!([{"ids": [ids[0]]}, {"ids": []}])] {
        send(without_ids).await.expect(400);
    }
    let body = json!({"token": "x", "moves": []});
    browser.send(browser.request(Method::POST, &format!("{path}/move")).json(&body)).await.expect(403);
    other.send(other.request(Method::POST, &format!("{path}/move")).json(&body)).await.expect(403);
    assert_eq!(order().await, [3, 0, 2, 1]);
    // The page of a photo leads through the album in its order.
    let page = browser.open(&format!("/photos/{}?in={id}", ids[0])).await.expect(200).text();
    for (rel, neighbour) in [("prev", &ids[3]), ("next", &ids[2])] {
        assert!(page.contains(&format!("rel=\"{rel}\" href=\"/photos/{neighbour}?in={id}\"")), "{page}");
    }
}
