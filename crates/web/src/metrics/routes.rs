//! Names of routes, so that the number of time series is bounded.

use matchit::Router;
use web_auth::BuildError;

/// The name of a request whose path matches no route.
const OTHER: &str = "other";

/// A name for each group of paths, as a pattern. A path belongs to the most specific pattern.
const ROUTES: &[&str] = &[
    "/",
    "/account",
    "/account/{*rest}",
    "/albums",
    "/albums/{*rest}",
    "/api/ext/v2/albums",
    "/api/ext/v2/albums/{id}",
    "/api/ext/v2/images",
    "/api/ext/v2/images/{id}",
    "/api/ext/v2/library",
    "/api/ext/v2/openapi.json",
    "/api/ext/v2/search",
    "/api/mcp/{*rest}",
    "/api/oauth/authorize",
    "/api/oauth/jwks",
    "/api/oauth/register",
    "/api/oauth/revoke",
    "/api/oauth/token",
    "/api/.well-known/{*rest}",
    "/archive",
    "/assets/{*rest}",
    "/dav",
    "/dav/{*rest}",
    "/examples",
    "/explore",
    "/healthz",
    "/i/{*rest}",
    "/index.php/{*rest}",
    "/map",
    "/ocs/{*rest}",
    "/on-this-day",
    "/p/{*rest}",
    "/photos/{*rest}",
    "/problems",
    "/readyz",
    "/remote.php/{*rest}",
    "/search",
    "/setup",
    "/share",
    "/sign-in",
    "/sign-out",
    "/status.php",
    "/theme",
    "/trash",
    "/trash/empty",
    "/upload",
    "/upload/{*rest}",
    "/web/{*rest}",
    "/.well-known/{*rest}",
];

/// Finds the route of a path.
pub(super) struct Routes(Router<&'static str>);

impl Routes {
    pub(super) fn new() -> Result<Self, BuildError> {
        let mut router = Router::new();
        for route in ROUTES {
            router.insert(*route, *route).map_err(|error| BuildError(format!("{route}: {error}")))?;
        }
        Ok(Self(router))
    }

    pub(super) fn name(&self, path: &str) -> &'static str {
        let path = match path.trim_end_matches('/') {
            "" => "/",
            trimmed => trimmed,
        };
        self.0.at(path).map_or(OTHER, |matched| matched.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_name() {
        let routes = Routes::new().unwrap();
        for (path, name) in [
            ("/", "/"),
            ("/api/ext/v2/images/img_1", "/api/ext/v2/images/{id}"),
            ("/api/ext/v2/images/img_1/more", OTHER),
            ("/api/mcp/photos", "/api/mcp/{*rest}"),
            ("/i/img_1/webp-thumb", "/i/{*rest}"),
            ("/dav/", "/dav"),
            ("/dav/files/2024/a.jpg", "/dav/{*rest}"),
            ("/index.php/login/v2/flow/secret", "/index.php/{*rest}"),
            ("/wp-login.php", OTHER),
        ] {
            assert_eq!(routes.name(path), name, "{path}");
        }
    }

    #[test]
    fn routes_of_the_image_api_are_named_by_their_paths() {
        let routes = Routes::new().unwrap();
        let document: serde_json::Value = serde_json::from_str(&web_api::openapi_document()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        assert!(paths.len() > 5);
        for path in paths.keys() {
            let path = format!("/api/ext/v2{path}");
            assert_eq!(routes.name(&path), path);
        }
    }
}
