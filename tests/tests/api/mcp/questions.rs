//! Questions to the user, asked by multi-round-trip results.

use serde_json::{Value, json};
use tests::{SeedImage, TestApp};

use super::{call, failure, modern_with, payload};

const V2: &str = "/api/mcp/v2";

/// A client that can ask its user by forms.
fn asks() -> Value {
    json!({"elicitation": {}})
}

/// One account's client of revision 2026-07-28.
struct Client<'a> {
    app: &'a TestApp,
    key: &'a str,
    capabilities: Value,
}

impl Client<'_> {
    /// The result of a call, with the user's answers.
    async fn call(&self, tool: &str, arguments: &Value, answers: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments, "inputResponses": answers});
        let request = modern_with(self.app, V2, self.key, "tools/call", &params, &self.capabilities);
        self.app.send(request).await.expect(200).json["result"].clone()
    }

    /// The only question of a call that has not been answered.
    async fn question(&self, tool: &str, arguments: &Value, name: &str) -> Value {
        let result = self.call(tool, arguments, &json!({})).await;
        assert_eq!(result["resultType"], "input_required", "{result}");
        let requests = result["inputRequests"].as_object().unwrap();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[name]["method"], "elicitation/create");
        requests[name]["params"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_more_than_twenty_images_is_confirmed() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(21)).await;
    let client = Client { app: &app, key: &ann.key, capabilities: asks() };
    let favorites = async || {
        let found = app.get("/images?limit=100&favorite=true", &ann.key).await.expect(200);
        found.json["results"].as_array().unwrap().len()
    };
    let long = "a ".repeat(80);
    let arguments = json!({"imageIds": ids, "favorite": true, "keywords": ["Sea", "Sun"], "description": long, "rating": null});
    let question = client.question("update_images", &arguments, "confirm").await;
    assert_eq!(
        question["message"],
        format!(
            "Change 21 photos? Favourite: yes. Rating: as in the file. Keywords: Sea, Sun. Description: {}…. You can undo this on your account page.",
            "a ".repeat(60)
        )
    );
    assert_eq!(question["requestedSchema"], json!({"type": "object", "properties": {}}));
    assert_eq!(favorites().await, 0);
    for action in ["decline", "cancel"] {
        let declined =
            client.call("update_images", &arguments, &json!({"confirm": {"action": action}})).await;
        assert!(failure(&declined).contains("did not agree"), "{declined}");
        assert_eq!(favorites().await, 0);
    }
    let accepted = json!({"confirm": {"action": "accept", "content": {}}});
    let made = payload(&client.call("update_images", &arguments, &accepted).await);
    assert_eq!(made["result"]["changed"], 21);
    assert_eq!(favorites().await, 21);
    // There is no question if nothing would change, and none before an undo.
    let again = payload(&client.call("update_images", &arguments, &json!({})).await);
    assert_eq!((&again["result"]["changed"], &again["result"]["unchanged"]), (&json!(0), &json!(21)));
    let undo = json!({"changeId": made["result"]["changeId"]});
    assert_eq!(payload(&client.call("undo_changes", &undo, &json!({})).await)["result"]["undone"], 21);
}

#[tokio::test(flavor = "multi_thread")]
async fn small_changes_previews_and_clients_that_cannot_ask_are_not_held_up() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(21)).await;
    let client = Client { app: &app, key: &ann.key, capabilities: asks() };
    let change = |rating: u8| json!({"imageIds": ids, "rating": rating});
    let mut small = change(1);
    small["imageIds"].as_array_mut().unwrap().truncate(20);
    assert_eq!(payload(&client.call("update_images", &small, &json!({})).await)["result"]["changed"], 20);
    // Only 1 of the 21 would change.
    assert_eq!(payload(&client.call("update_images", &change(1), &json!({})).await)["result"]["changed"], 1);
    let mut preview = change(2);
    preview["dryRun"] = json!(true);
    assert_eq!(payload(&client.call("update_images", &preview, &json!({})).await)["result"]["changed"], 21);
    for (rating, capabilities) in [(3, json!({})), (4, json!({"elicitation": {"url": {}}}))] {
        let client = Client { capabilities, ..client };
        let made = payload(&client.call("update_images", &change(rating), &json!({})).await);
        assert_eq!(made["result"]["changed"], 21);
    }
    assert_eq!(
        payload(&call(&app, V2, &ann.key, "update_images", &change(5)).await)["result"]["changed"],
        21
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_changes_are_refused_without_a_question() {
    let app = TestApp::start().await;
    let ann = app.account("ann").await;
    let ids = app.seed(&ann, SeedImage::series(21)).await;
    let client = Client { app: &app, key: &ann.key, capabilities: asks() };
    let mut unknown = json!({"imageIds": ids, "rating": 3});
    unknown["imageIds"][20] = json!("unknown");
    for arguments in [unknown, json!({"imageIds": ids, "rating": 9}), json!({"imageIds": ids})] {
        failure(&client.call("update_images", &arguments, &json!({})).await);
    }
    // A malformed answer is the client's mistake, not the model's.
    for answer in [json!({"action": "yes"}), json!("accept"), json!({"action": "accept", "content": 1})] {
        let arguments = json!({"imageIds": ids, "rating": 3});
        let params =
            json!({"name": "update_images", "arguments": arguments, "inputResponses": {"confirm": answer}});
        let request = modern_with(&app, V2, &ann.key, "tools/call", &params, &asks());
        let error = app.send(request).await.expect(200).json["error"].clone();
        assert_eq!(error["code"], -32602, "{answer}: {error}");
        assert!(
            error["message"].as_str().unwrap().starts_with("inputResponses.confirm"),
            "{answer}: {error}"
        );
    }
    let found = app.get("/images?limit=100", &ann.key).await.expect(200);
    assert!(
        found.json["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|image| image.get("rating").is_none_or(Value::is_null))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_chooses_among_albums_with_one_title() {
    let app = TestApp::start().await;
    let (ann, ben) = (app.account("ann").await, app.account("ben").await);
    let ids = app.seed(&ann, SeedImage::series(3)).await;
    app.seed(&ben, SeedImage::series(1)).await;
    let album = async |key: &str, title: &str, images: &[String]| {
        let made = call(&app, V2, key, "create_album", &json!({"title": title, "imageIds": images})).await;
        payload(&made)["result"]["id"].as_str().unwrap().to_owned()
    };
    let small = album(&ann.key, "Garden", &ids[..1]).await;
    let large = album(&ann.key, "garden", &ids[1..]).await;
    let foreign = album(&ben.key, "Garden", &[]).await;
    let client = Client { app: &app, key: &ann.key, capabilities: asks() };
    let named = json!({"album": "Garden"});
    for (tool, images) in [("list_images", 2), ("search_images", 2), ("show_images", 2)] {
        let question = client.question(tool, &named, "album").await;
        let choices = question["requestedSchema"]["properties"]["album"]["oneOf"].as_array().unwrap();
        assert_eq!(choices.len(), 2);
        let choice = choices.iter().find(|choice| choice["const"] == large.as_str()).unwrap();
        assert!(choice["title"].as_str().unwrap().starts_with("garden, 2 photos, created on 20"), "{choice}");
        assert!(choices.iter().any(|choice| choice["const"] == small.as_str()));
        let answer = |id: &str| json!({"album": {"action": "accept", "content": {"album": id}}});
        let result = client.call(tool, &named, &answer(&large)).await;
        let found = result["structuredContent"].clone();
        assert_eq!(found["results"].as_array().unwrap().len(), images, "{result}");
        assert_eq!(found["interpreted"]["album"]["id"], large.as_str());
        for other in [foreign.as_str(), "unknown"] {
            failure(&client.call(tool, &named, &answer(other)).await);
        }
        failure(&client.call(tool, &named, &json!({"album": {"action": "decline"}})).await);
    }
    let unasked = call(&app, V2, &ann.key, "list_images", &named).await;
    assert!(failure(&unasked).starts_with("Several albums have this title"), "{unasked}");
}
