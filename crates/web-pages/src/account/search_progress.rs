use library::{LibraryInfo, SearchProgress, SearchStage};
use maud::{Markup, html};

use super::Topic;

/// What searches look at, and how many photos of an account are ready for that.
pub(super) fn search_progress(told: &[SearchProgress], info: &LibraryInfo) -> Markup {
    html! {
        @if info.has_vision_model {
            p { "Photos are found by what they show, and by the words in them, description, place and file name." }
        } @else {
            p {
                "Photos are found by colours, light, the words in them, description, place and file name. "
                "What they show is not searched, because no vision model is in use. "
                "Whoever runs this server can add one:"
            }
            pre { code { "server model install ViT-B-32__openai\nserver model use ViT-B-32__openai" } }
        }
        @if info.total_images == 0 && told.iter().all(is_done) {
            p { "There are no photos yet. " a href=(Topic::Sync.path()) { "How to import photos" } }
        } @else if told.is_empty() {
            p { "No photos have been prepared for searching yet." }
        } @else {
            ul.rows {
                @for progress in told {
                    li {
                        div {
                            p.name { (heading(progress)) }
                            p.facts { (state(progress)) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether no photo waits, and none failed.
fn is_done(progress: &SearchProgress) -> bool {
    progress.waiting == 0 && progress.failed == 0
}

fn heading(progress: &SearchProgress) -> &'static str {
    match progress.stage {
        SearchStage::Text => "Words in photos",
        SearchStage::Appearance => "Colours, light and layout",
        SearchStage::Model => "Vision model",
    }
}

fn state(progress: &SearchProgress) -> String {
    let mut state = match progress.waiting {
        0 => "All photos are ready".to_owned(),
        1 => "1 photo is waiting".to_owned(),
        photos => format!("{photos} photos are waiting"),
    };
    match progress.failed {
        0 => {}
        1 => state.push_str("; 1 photo could not be read"),
        photos => state.push_str(&format!("; {photos} photos could not be read")),
    }
    state.push('.');
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_words() {
        let told = |waiting, failed| {
            state(&SearchProgress { stage: SearchStage::Text, version: String::new(), waiting, failed })
        };
        assert_eq!(told(0, 0), "All photos are ready.");
        assert_eq!(told(1, 1), "1 photo is waiting; 1 photo could not be read.");
        assert_eq!(told(20, 3), "20 photos are waiting; 3 photos could not be read.");
    }
}
