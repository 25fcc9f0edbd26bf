use http::{HeaderMap, header};

/// Whether `Accept` names HTML and does not prefer JSON (RFC 9110, section 12.5.1). Wildcards do not count, because
/// programs send them.
pub fn prefers_html(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let (mut html, mut json) = (0.0, 0.0);
    for range in lines.flat_map(|line| line.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        let weight = weight.map_or(1.0, |weight| weight.parse::<f32>().unwrap_or(0.0));
        match name.as_str() {
            "text/html" => html = weight,
            "application/json" => json = weight,
            _ => {}
        }
    }
    html > 0.0 && html >= json
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn only_browsers_prefer_html() {
        let check = |accept: &[&'static str], expect: bool| {
            let mut headers = HeaderMap::new();
            for line in accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(line));
            }
            assert_eq!(prefers_html(&headers), expect, "{accept:?}");
        };
        check(&["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], true);
        check(&["text/html, application/json"], true);
        check(&["application/json", "Text/HTML;level=1;q=1"], true);
        check(&["application/json, text/html;q=0.9"], false);
        check(&["text/html;q=0"], false);
        check(&["text/html; q=0.5, application/json; q=0.4"], true);
        check(&["text/html;q=x"], false);
        check(&["*/*"], false);
        check(&["text/*"], false);
        check(&[], false);
    }
}
