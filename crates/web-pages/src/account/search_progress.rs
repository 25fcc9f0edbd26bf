use library::{LibraryInfo, SearchProgress, SearchStage};
use maud::{Markup, html};

use super::AccountSection;

/// What search uses, and how many photos of an account are ready for it.
pub(super) fn search_progress(
    progress: &[SearchProgress],
    info: &LibraryInfo,
    can_run_models: bool,
) -> Markup {
    html! {
        @if info.has_vision_model {
            p { "Search matches what photos show, the text in them, descriptions, places and file names." }
        } @else {
            p {
                "Search matches colours, light, the text in photos, descriptions, places and file names. "
                "It cannot match what photos show, because no vision model is in use. "
                @if can_run_models { "The operator of this server can add one:" }
                @else { "This server’s program cannot run one; " code { "server doctor" } " says what it lacks." }
            }
            @if can_run_models {
                pre { code { "server model install ViT-B-32__openai\nserver model use ViT-B-32__openai" } }
            }
        }
        @if info.total_images == 0 && progress.iter().all(is_done) {
            p { "There are no photos yet. " a href=(AccountSection::Sync.path()) { "How to import photos" } }
        } @else if progress.is_empty() {
            p { "No photos are ready for search yet." }
        } @else {
            ul.entries {
                @for stage in progress {
                    li {
                        div {
                            p.name { (heading(stage)) }
                            p.facts { (state(stage)) }
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
        SearchStage::Text => "Text in photos",
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
    fn the_state_names_the_counts() {
        let text = |waiting, failed| {
            state(&SearchProgress { stage: SearchStage::Text, version: String::new(), waiting, failed })
        };
        assert_eq!(text(0, 0), "All photos are ready.");
        assert_eq!(text(1, 1), "1 photo is waiting; 1 photo could not be read.");
        assert_eq!(text(20, 3), "20 photos are waiting; 3 photos could not be read.");
    }
}
