use std::fmt::Write as _;

use fast_qr::{ECL, QRBuilder};
use maud::{Markup, html};

/// The white border that a QR code needs on each side, in modules (ISO/IEC 18004).
const QUIET_ZONE: usize = 4;

/// A text as a QR code, an inline SVG. `None` if the text is too long for one. `label` is for screen readers.
pub(crate) fn qr_code(text: &str, label: &str) -> Option<Markup> {
    let code = QRBuilder::new(text).ecl(ECL::M).build().ok()?;
    let side = code.size + 2 * QUIET_ZONE;
    let path = dark_modules(code.size, |x, y| code[y].get(x).is_some_and(|module| module.value()));
    Some(html! {
        svg.qr viewBox=(format!("0 0 {side} {side}")) role="img" aria-label=(label) shape-rendering="crispEdges" {
            rect width=(side) height=(side) fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    })
}

/// The dark modules as a path with one rectangle for each run in a row.
fn dark_modules(size: usize, is_dark: impl Fn(usize, usize) -> bool) -> String {
    let mut path = String::new();
    for y in 0..size {
        let mut x = 0;
        while x < size {
            let start = x;
            while x < size && is_dark(x, y) {
                x += 1;
            }
            if x > start {
                let length = x - start;
                // Writing to a string does not fail.
                let _ = write!(path, "M{} {}h{length}v1h-{length}z", start + QUIET_ZONE, y + QUIET_ZONE);
            }
            x += 1;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_dark_modules_are_rectangles() {
        let rows = [[true, true, false], [false, false, true], [false, false, false]];
        assert_eq!(dark_modules(3, |x, y| rows[y][x]), "M4 4h2v1h-2zM6 5h1v1h-1z");
    }

    #[test]
    fn a_code_has_finder_patterns_and_a_quiet_zone() {
        let svg = qr_code("nc://login/user:u&password:p&server:https://photos.example.org", "A code");
        let svg = svg.unwrap().into_string();
        assert!(svg.contains("aria-label=\"A code\"") && svg.contains("d=\"M4 4h7v1h-7z"), "{svg}");
        assert!(qr_code(&"x".repeat(4000), "").is_none());
    }
}
