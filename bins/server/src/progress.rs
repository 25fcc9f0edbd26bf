//! Progress of commands: a bar on a terminal.

use std::{
    fmt::Write,
    io::{IsTerminal as _, stderr},
    time::Duration,
};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A bar in the form of `template`, hidden unless stderr is a terminal. Its length is set at the first progress.
pub(crate) fn bar(template: &str) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    match style(template) {
        Some(style) => bar.with_style(style),
        None => bar,
    }
}

/// The style of a template. `{left}` is a comma and the time left, as soon as that is known.
pub(crate) fn style(template: &str) -> Option<ProgressStyle> {
    let style = ProgressStyle::with_template(template).ok()?;
    Some(style.with_key("left", |state: &ProgressState, out: &mut dyn Write| {
        // An error means that the terminal is gone.
        let _ = out.write_str(&time_left(state.eta()));
    }))
}

fn time_left(left: Duration) -> String {
    match left.as_secs() {
        0 => String::new(),
        seconds => format!(", {} left", HumanDuration(Duration::from_secs(seconds))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remaining_time_of_zero_seconds_is_not_shown() {
        assert_eq!(time_left(Duration::ZERO), "");
        assert_eq!(time_left(Duration::from_millis(999)), "");
        assert_eq!(time_left(Duration::from_millis(1500)), ", 1 second left");
        assert_eq!(time_left(Duration::from_secs(7200)), ", 2 hours left");
        assert!(style("{wide_bar} {pos}/{len} files{left}").is_some());
    }
}
