use library::{SearchProgress, SearchStage};
use maud::{Markup, html};

/// How far searches know what the photos of an account hold.
pub(super) fn search_progress(told: &[SearchProgress]) -> Markup {
    html! {
        p { "Photos are found by what stands in and about them, by place, and by what they look like." }
        @if told.is_empty() {
            p { "Nothing was looked at yet." }
        }
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

fn heading(progress: &SearchProgress) -> &'static str {
    match progress.stage {
        SearchStage::Text => "Words in photos",
        SearchStage::Appearance => "Colours, light and layout",
        SearchStage::Model => "Vision model",
    }
}

fn state(progress: &SearchProgress) -> String {
    let mut state = match progress.waiting {
        0 => "All photos are done".to_owned(),
        1 => "1 photo waits".to_owned(),
        photos => format!("{photos} photos wait"),
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
        assert_eq!(told(0, 0), "All photos are done.");
        assert_eq!(told(1, 1), "1 photo waits; 1 photo could not be read.");
        assert_eq!(told(20, 3), "20 photos wait; 3 photos could not be read.");
    }
}
