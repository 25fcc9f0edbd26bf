//! The prompts: tasks that a user starts by a command. Each text names the tools and how to use them.

use std::collections::BTreeMap;

use domain::{DateRange, Month, Timestamp};
use mcp_wire::{
    ContentBlock, Prompt, PromptArgument,
    jsonrpc::ErrorObject,
    prompts::{GetPromptResult, PromptMessage},
};

use super::McpResource;

domain::listed_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Task {
        FindPhoto,
        MakeTripAlbum,
        TidyLastMonth,
        DescribePhotos,
    }
}

/// The most characters of an argument.
const MAX_ARGUMENT_CHARS: usize = 500;

/// What to do if a tool that changes photos exists. Its annotations and errors say the rest.
const CHANGING: &str = "\
If the tool update_images is there, call it first with dryRun, show me what it would change, and repeat the call without \
dryRun when I agree. Tell me that undo_changes takes a change back, and keep each changeId for that. \
If the tool is not there, or says that it is not allowed, tell me so";

/// The prompts of a resource, in a fixed order.
pub(super) fn of(resource: McpResource) -> impl Iterator<Item = (Task, Prompt)> {
    let served = Task::ALL.into_iter().filter(move |task| *task == Task::FindPhoto || resource.has_albums());
    served.map(|task| (task, prompt(task)))
}

fn prompt(task: Task) -> Prompt {
    match task {
        Task::FindPhoto => Prompt::new("find_photo", "Finds a photo from a description in your own words.")
            .with_title("Find a photo")
            .with_argument(PromptArgument::required(
                "what",
                "What the photo shows, and where or when it was taken if you remember",
            )),
        Task::MakeTripAlbum => Prompt::new(
            "make_trip_album",
            "Collects the best photos of a trip, proposes them, and makes an album of them.",
        )
        .with_title("Make an album of a trip")
        .with_argument(PromptArgument::required("place", "Where the trip went, such as Lisbon"))
        .with_argument(PromptArgument::optional("month", "When it was, such as 2024-06 or June 2024")),
        Task::TidyLastMonth => Prompt::new(
            "tidy_last_month",
            "Looks through the photos of last month: duplicates, blurred photos, screenshots, and the best ones. Changes nothing without asking.",
        )
        .with_title("Tidy last month"),
        Task::DescribePhotos => Prompt::new(
            "describe_photos",
            "Looks at photos that have no description and proposes one for each.",
        )
        .with_title("Describe photos without a description")
        .with_argument(PromptArgument::optional("language", "The language of the descriptions, such as English")),
    }
}

/// The messages of a prompt.
///
/// # Errors
/// If a required argument is blank, or an argument is too long.
pub(super) fn messages(
    task: Task,
    resource: McpResource,
    arguments: &BTreeMap<String, String>,
    now: Timestamp,
) -> Result<GetPromptResult, ErrorObject> {
    let arguments = Arguments(arguments);
    let text = match task {
        Task::FindPhoto => find_photo(arguments.required("what")?, resource),
        Task::MakeTripAlbum => make_trip_album(arguments.required("place")?, arguments.optional("month")?),
        Task::TidyLastMonth => tidy(last_month(now)),
        Task::DescribePhotos => describe_photos(arguments.optional("language")?),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::user(ContentBlock::text(text))]))
}

/// The arguments of a prompt. Blank ones count as absent.
struct Arguments<'a>(&'a BTreeMap<String, String>);

impl<'a> Arguments<'a> {
    fn optional(&self, name: &str) -> Result<Option<&'a str>, ErrorObject> {
        let value = self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        match value {
            Some(value) if value.chars().count() > MAX_ARGUMENT_CHARS => Err(ErrorObject::invalid_params(
                format!("arguments.{name}: must have at most {MAX_ARGUMENT_CHARS} characters"),
            )),
            value => Ok(value),
        }
    }

    fn required(&self, name: &str) -> Result<&'a str, ErrorObject> {
        let missing = || ErrorObject::invalid_params(format!("arguments.{name}: is required"));
        self.optional(name)?.ok_or_else(missing)
    }
}

fn last_month(now: Timestamp) -> Month {
    let this = Month::of(now).range();
    Month::of(this.start().plus_millis(-1))
}

fn find_photo(what: &str, resource: McpResource) -> String {
    let check = if resource.has_albums() {
        "Look at the best results with view_images (sheet: true if there are more than four) and choose by what you see, not by the score alone."
    } else {
        "Choose by description, place, time and the text that matched, not by the score alone."
    };
    format!(
        "\
Find a photo in my photo library: {what}

1. Call search_images with a query of a few plain words that say what the photo shows. If I named a place, also search with a circle around it (latitude, longitude and radiusMeters). If I named a time, set startDate and endDate, with a day to spare on each side, because capturedAt is in UTC.
2. {check}
3. If nothing fits, try other words, a wider circle or a longer time, at most five searches in all. If a result has a note, tell me what it says.
4. Show me what you found with show_images, the best match first, and say in one sentence why it fits. If you are not sure, show me the candidates and ask."
    )
}

fn make_trip_album(place: &str, month: Option<&str>) -> String {
    let (when, dates) = match month {
        Some(month) => (
            format!(", {month}"),
            "Set startDate and endDate to that month, with a day to spare on each side, because capturedAt is in UTC.",
        ),
        None => (
            String::new(),
            "If the photos are from several trips, tell me when each was and ask which one I mean.",
        ),
    };
    format!(
        "\
Make an album of my trip: {place}{when}

1. Find its photos. Call search_images with a circle that covers the whole area (latitude, longitude and radiusMeters), and again with the name of the place as query. {dates} If a page is full, get the next one by setting endDate to the capturedAt of its last image.
2. Photos without a position may belong to the trip, too: call list_images with the first and the last day that you found.
3. Look at the photos with view_images, 16 at a time, with sheet: true. Leave out near duplicates, blurred photos, screenshots and receipts.
4. Show me your choice with show_images, propose a title, and wait for my answer.
5. Call list_albums. If there is an album of this trip already, ask whether to add the photos to it with update_album. Otherwise call create_album with the title and imageIds. A call takes at most 100 ids; add more with update_album.
6. Tell me how many photos the album has and what you left out."
    )
}

fn tidy(month: Month) -> String {
    let range: DateRange = month.range();
    let (start, end) = (range.start(), range.end());
    format!(
        "\
Help me tidy the photos of last month, {month}. Change nothing before I agree.

1. Call list_images with startDate {start} and endDate {end}, and get all pages: set endDate to the capturedAt of the last image, and skip ids that you already have.
2. Look at all of them with view_images, 16 at a time, with sheet: true. Use size medium for photos that you are not sure about.
3. Sort out: near duplicates (name the best of each group), blurred or accidental photos, screenshots and receipts, the best photos of the month, and events that deserve an album.
4. Show me one group after the other with show_images, say how many there are, and ask what to do with each.
5. For what I agree to: mark the best as favorite, or give them a rating; add keywords; set archived for what I do not want to see every day, which deletes nothing. {CHANGING}, and offer to collect the best photos in an album with create_album instead.
6. End with a summary: what changed, and what is left for me to decide. You cannot delete photos; I do that myself."
    )
}

fn describe_photos(language: Option<&str>) -> String {
    let language =
        language.map_or("in the language that I write in".to_owned(), |language| format!("in {language}"));
    format!(
        "\
Describe photos in my library that have no description. Change nothing before I agree.

1. Call list_images, newest first, and take the first 12 images whose description is null. Get further pages if there are fewer: set endDate to the capturedAt of the last image.
2. Look at them with view_images, size medium.
3. Write one or two sentences about each, {language}: what it shows, what happens, and what makes it different from the others. Use its place, its time and the text in it. Do not guess who people are, and do not invent names.
4. Show me the photos with show_images and your descriptions beside their numbers, and wait for my corrections.
5. Then set description for each image. {CHANGING}, and give me the descriptions as a table with the file names.
6. Ask whether to go on with the next photos."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools;

    fn now() -> Timestamp {
        Timestamp::parse_iso("2024-03-05").unwrap()
    }

    fn arguments(values: &[(&str, &str)]) -> BTreeMap<String, String> {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn text(task: Task, resource: McpResource, values: &[(&str, &str)]) -> Result<String, String> {
        let result = messages(task, resource, &arguments(values), now()).map_err(|error| error.message)?;
        let [message] = &result.messages[..] else { panic!("{result:?}") };
        Ok(message.content.as_text().unwrap().to_owned())
    }

    const ALL: [(&str, &str); 3] = [("what", "a red boat"), ("place", "Lisbon"), ("month", "2024-06")];

    #[test]
    fn texts_name_only_tools_that_exist_or_may_exist() {
        for resource in McpResource::ALL {
            let tools: Vec<_> = tools::of(resource).map(|(_, tool)| tool.name).collect();
            for (task, prompt) in of(resource) {
                let text = text(task, resource, &ALL).unwrap();
                for word in text
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .filter(|word| word.contains('_'))
                {
                    let may_exist = ["update_images", "undo_changes"].contains(&word);
                    assert!(may_exist || tools.iter().any(|tool| tool == word), "{}: {word}", prompt.name);
                }
                assert!(
                    !text.contains("update_images") || text.contains("If the tool update_images is there")
                );
                assert!(prompt.title.is_some() && prompt.description.is_some());
            }
        }
    }

    #[test]
    fn the_legacy_resource_has_one_prompt() {
        let names = |resource| of(resource).map(|(_, prompt)| prompt.name).collect::<Vec<_>>();
        let all = ["find_photo", "make_trip_album", "tidy_last_month", "describe_photos"];
        assert_eq!(names(McpResource::V1), all);
        assert_eq!(names(McpResource::V2), all);
        assert_eq!(names(McpResource::Legacy), all[..1]);
    }

    #[test]
    fn arguments_become_part_of_the_text() {
        let find = text(Task::FindPhoto, McpResource::V1, &[("what", " a red boat \n")]).unwrap();
        assert!(find.starts_with("Find a photo in my photo library: a red boat\n"), "{find}");
        let trip = |values| text(Task::MakeTripAlbum, McpResource::V1, values).unwrap();
        assert!(trip(&ALL).starts_with("Make an album of my trip: Lisbon, 2024-06\n"));
        assert!(
            trip(&[("place", "Lisbon"), ("month", " ")]).starts_with("Make an album of my trip: Lisbon\n")
        );
        let tidy = text(Task::TidyLastMonth, McpResource::V1, &[]).unwrap();
        assert!(tidy.contains("February 2024"), "{tidy}");
        assert!(
            tidy.contains("startDate 2024-02-01T00:00:00.000Z and endDate 2024-02-29T23:59:59.999Z"),
            "{tidy}"
        );
        let describe = text(Task::DescribePhotos, McpResource::V1, &[("language", "Greek")]).unwrap();
        assert!(describe.contains("each, in Greek:"), "{describe}");
    }

    #[test]
    fn blank_and_long_arguments_are_refused() {
        for (task, values, message) in [
            (Task::FindPhoto, vec![("what", " ")], "arguments.what: is required"),
            (Task::MakeTripAlbum, vec![], "arguments.place: is required"),
            (
                Task::DescribePhotos,
                vec![("language", &*"x".repeat(501))],
                "arguments.language: must have at most 500 characters",
            ),
        ] {
            assert_eq!(text(task, McpResource::V1, &values), Err(message.to_owned()));
        }
    }
}
