use super::*;
use crate::testing;

#[test]
fn equivalent_resource_urls_are_equal() {
    let config = testing::config();
    let check = |url: &str, expect: Option<&str>| {
        assert_eq!(config.resource(url).map(|resource| resource.url.as_str()), expect, "{url}");
    };
    let v1 = Some("https://photos.example/api/mcp/v1");
    check("https://photos.example/api/mcp/v1", v1);
    check("https://photos.example/api/mcp/v1/", v1);
    check("https://photos.example:443/api/mcp/v1", v1);
    check("HTTPS://Photos.Example:443/api/mcp/v1/", v1);
    check("https://photos.example/api/mcp/legacy", Some("https://photos.example/api/mcp/legacy"));
    for url in [
        "",
        "/api/mcp/v1",
        "api/mcp/v1",
        "//photos.example/api/mcp/v1",
        "https:/photos.example/api/mcp/v1",
        "http://photos.example/api/mcp/v1",
        "https://photos.example:8443/api/mcp/v1",
        "https://photos.example:/api/mcp/v1",
        "https://user@photos.example/api/mcp/v1",
        "https://photos.example./api/mcp/v1",
        "https://photos.example.evil/api/mcp/v1",
        "https://photos.example/api/mcp",
        "https://photos.example/api/mcp/v12",
        "https://photos.example/api/mcp/v1/x",
        "https://photos.example/api/mcp/v1//",
        "https://photos.example/api/mcp/v1?",
        "https://photos.example/api/mcp/v1?a=b",
        "https://photos.example/api/mcp/v1#",
        "https://photos.example/api/mcp/v1#a",
        "https://photos.example/api/mcp/V1",
        "https://photos.example/api/mcp/%761",
        "https://photos.example/x/../api/mcp/v1",
        "https://photos.example\\api/mcp/v1",
        " https://photos.example/api/mcp/v1",
    ] {
        check(url, None);
    }
}

#[test]
fn an_invalid_configuration_is_refused() {
    type Change = fn(&mut Config);
    let check = |change: Change, expect: ConfigError| {
        let mut config = testing::config();
        change(&mut config);
        let Config { issuer, endpoints, resources, lifetimes, policies: _, links: _ } = config;
        assert_eq!(Config::new(issuer, endpoints, resources, lifetimes), Err(expect));
    };
    check(|config| config.issuer.push('?'), ConfigError::Url("https://photos.example/api?".to_owned()));
    check(|config| "/token".clone_into(&mut config.endpoints.token), ConfigError::Url("/token".to_owned()));
    check(
        |config| "ftp://a/".clone_into(&mut config.endpoints.jwks),
        ConfigError::Url("ftp://a/".to_owned()),
    );
    check(
        |config| "https://u@a/".clone_into(&mut config.resources[0].url),
        ConfigError::Url("https://u@a/".to_owned()),
    );
    check(|config| config.resources.clear(), ConfigError::NoResource);
    check(
        |config| "https://photos.example:443/api/mcp/v1/".clone_into(&mut config.resources[1].url),
        ConfigError::RepeatedResource("https://photos.example:443/api/mcp/v1/".to_owned()),
    );
    check(
        |config| config.resources[1].scopes.clear(),
        ConfigError::NoScope("https://photos.example/api/mcp/legacy".to_owned()),
    );
    check(|config| config.resources[0].scopes.push("a b".to_owned()), ConfigError::Scope("a b".to_owned()));
    check(
        |config| "mcp:photos".clone_into(&mut config.resources[0].scope_aliases[0].1),
        ConfigError::Alias("mcp:photos".to_owned()),
    );
    check(|config| config.lifetimes.code_seconds = 0, ConfigError::Lifetime);
}

#[test]
fn links_are_https_urls() {
    let with = |url: &str| {
        let links = ServiceLinks { terms: Some(url.to_owned()), ..ServiceLinks::default() };
        testing::config().with_links(links).map(|config| config.links().clone())
    };
    let links = with("https://photos.example/terms?lang=en#top").unwrap();
    assert_eq!(
        links.iter().collect::<Vec<_>>(),
        [("Terms of service", "https://photos.example/terms?lang=en#top")]
    );
    for url in ["", "/terms", "http://photos.example/terms", "javascript:alert(1)", "mailto:a@photos.example"]
    {
        assert_eq!(with(url), Err(ConfigError::Link(url.to_owned())));
    }
}

#[test]
fn documents_and_endpoints_have_well_known_urls() {
    let check = |url: &str, expect: &str| {
        assert_eq!(Resource::new(url, "Photos", &["photos"]).metadata_url, expect);
    };
    let known = "https://a.example:8/.well-known/oauth-protected-resource";
    check("https://a.example:8", known);
    check("https://a.example:8/", known);
    check("https://a.example:8/api/mcp", &format!("{known}/api/mcp"));
    check("https://a.example:8/api/", &format!("{known}/api/"));
    let endpoints = Endpoints::under("https://a.example/api/");
    assert_eq!(endpoints.registration, "https://a.example/api/register");
    assert_eq!(endpoints.jwks, "https://a.example/api/jwks");
}
