//! The software bill of materials, as CycloneDX 1.6 in JSON.

use serde_json::{Value, json};

use super::packages::Package;

/// Lists the packages of a program with versions, licences and checksums.
///
/// `created` is a time in RFC 3339.
pub(super) fn of(version: &str, created: &str, program_sha256: &str, packages: &[Package]) -> Value {
    let components: Vec<Value> = packages.iter().map(component).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": created,
            "component": {
                "type": "application",
                "bom-ref": "photo-library",
                "name": "photo-library",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "hashes": [{"alg": "SHA-256", "content": program_sha256}],
            },
        },
        "components": components,
        "dependencies": [{
            "ref": "photo-library",
            "dependsOn": packages.iter().map(package_url).collect::<Vec<_>>(),
        }],
    })
}

fn component(package: &Package) -> Value {
    let url = package_url(package);
    let mut component = json!({
        "type": "library",
        "bom-ref": url,
        "name": package.name,
        "version": package.version,
        "licenses": [{"expression": package.license_expression()}],
        "purl": url,
    });
    let mut set = |name: &str, value: Value| {
        if let Some(members) = component.as_object_mut() {
            members.insert(name.to_owned(), value);
        }
    };
    if let Some(description) = &package.description {
        set("description", json!(description.trim()));
    }
    if let Some(checksum) = &package.checksum {
        set("hashes", json!([{"alg": "SHA-256", "content": checksum}]));
    }
    if let Some(repository) = &package.repository {
        set("externalReferences", json!([{"type": "vcs", "url": repository}]));
    }
    component
}

/// The package URL. A package of this workspace is in no registry, so it has the generic type.
fn package_url(package: &Package) -> String {
    let kind = if package.source.is_some() { "cargo" } else { "generic/photo-library" };
    // `+` begins the build metadata of a version and must be encoded.
    format!("pkg:{kind}/{}@{}", package.name, package.version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::packages::tests::package;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_package_is_a_component() {
        let mut own = package("domain", "MIT OR Apache-2.0", Path::new("/sources/domain"));
        (own.source, own.checksum) = (None, None);
        let mut openssl = package("openssl-src", "MIT/Apache-2.0", Path::new("/registry/openssl-src"));
        openssl.version = "300.5.0+3.5.0".to_owned();
        let bill = of("0.1.0", "2026-01-02T03:04:05Z", "c0ffee", &[own, openssl]);

        let components = bill["components"].as_array().unwrap();
        let urls: Vec<_> = components.iter().map(|component| component["purl"].as_str().unwrap()).collect();
        assert_eq!(urls, ["pkg:generic/photo-library/domain@1.2.3", "pkg:cargo/openssl-src@300.5.0%2B3.5.0"]);
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(urls));
        assert_eq!(components[0].get("hashes"), None);
        assert_eq!(components[1]["hashes"][0]["content"], "ab".repeat(32));
        assert_eq!(components[1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["metadata"]["component"]["hashes"][0]["content"], "c0ffee");
        let refs: BTreeSet<_> = components.iter().map(|component| component["bom-ref"].as_str()).collect();
        assert_eq!(refs.len(), components.len(), "references are unique");
    }
}
