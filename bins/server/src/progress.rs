//! The style of progress bars.

use std::{fmt, time::Duration};

use indicatif::{HumanDuration, ProgressState, ProgressStyle, style::TemplateError};

/// A style whose template may contain `{left}`: the time that is left, after a comma. It is empty while that is unknown, and in the
/// last second.
pub(crate) fn style(template: &str) -> Result<ProgressStyle, TemplateError> {
    Ok(ProgressStyle::with_template(template)?.with_key("left", left))
}

fn left(state: &ProgressState, to: &mut dyn fmt::Write) {
    // The bar is drawn again soon, if this ever fails.
    let _ = to.write_str(&text(state.eta()));
}

fn text(left: Duration) -> String {
    match left.as_secs() {
        0 => String::new(),
        _ => format!(", {:#} left", HumanDuration(left)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_never_says_that_nothing_is_left() {
        for (millis, expected) in
            [(0, ""), (999, ""), (1_000, ", 1s left"), (45_000, ", 45s left"), (7_200_000, ", 2h left")]
        {
            assert_eq!(text(Duration::from_millis(millis)), expected);
        }
        assert!(style("{wide_bar} {pos}/{len} photos{left}").is_ok());
    }
}
