//! Regions (GeoNames' first-order administrative divisions) and countries, with their names in many languages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::{PlacesError, file, json, read};

const CODES: &str = "subdivisions.tsv";
const ENGLISH: &str = "en.json";
const TRANSLATED: &str = "iso3166-2.json";
const LOCAL: &str = "2.js";
const TERRITORIES: &str = "main";

/// Countries whose names of regions in CLDR are not English. Those of `iso3166-2.json` are used instead.
const NOT_ENGLISH: [&str; 2] = ["CZ", "UA"];

/// Regions without an English name in the sources, by GeoNames' code.
const REGION_NAMES: [(&str, &str); 1] = [("CN.20", "Inner Mongolia")];

/// The languages of the names of countries.
const LANGUAGES: [&str; 58] = [
    "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa",
    "fi", "fil", "fr", "ga", "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "km",
    "ko", "lo", "lt", "lv", "mk", "ms", "mt", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr",
    "sv", "sw", "th", "tr", "uk", "vi", "zh",
];

/// Common names of countries that CLDR does not have.
const COMMON_NAMES: [(&str, &str); 9] = [
    ("GB", "Britain"),
    ("GB", "Great Britain"),
    ("NL", "Holland"),
    ("US", "America"),
    ("US", "USA"),
    ("US", "United States of America"),
    ("AE", "Emirates"),
    ("AE", "UAE"),
    ("TW", "臺灣"),
];

/// A region or country with its names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Named {
    /// Its English name.
    pub(super) name: String,
    /// Other names, in any order, perhaps repeated.
    pub(super) others: Vec<String>,
}

#[derive(Deserialize)]
struct CldrSubdivisions {
    subdivisions: Displayed<CldrSubdivisionNames>,
}

#[derive(Deserialize)]
struct Displayed<T> {
    #[serde(rename = "localeDisplayNames")]
    names: T,
}

#[derive(Deserialize)]
struct CldrSubdivisionNames {
    subdivisions: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct CldrTerritories {
    main: BTreeMap<String, Displayed<CldrTerritoryNames>>,
}

#[derive(Deserialize)]
struct CldrTerritoryNames {
    territories: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct TranslatedCountry {
    names: BTreeMap<String, String>,
    #[serde(default)]
    regions: Vec<TranslatedRegion>,
}

#[derive(Deserialize)]
struct TranslatedRegion {
    #[serde(default)]
    names: BTreeMap<String, String>,
    #[serde(default)]
    reference: Option<Reference>,
}

#[derive(Deserialize)]
struct Reference {
    geonames: Option<u32>,
}

/// The regions by GeoNames' code, such as `DE.02`.
pub(super) fn regions(dir: &Path) -> Result<BTreeMap<String, Named>, PlacesError> {
    let english: CldrSubdivisions = json(&dir.join(ENGLISH))?;
    let english = english.subdivisions.names.subdivisions;
    let local = local_names(&text(dir, LOCAL)?);
    let translated: BTreeMap<String, TranslatedCountry> = json(&dir.join(TRANSLATED))?;
    let translated: BTreeMap<u32, BTreeMap<String, String>> = translated
        .into_values()
        .flat_map(|country| country.regions)
        .filter_map(|region| Some((region.reference?.geonames?, region.names)))
        .collect();

    let mut regions = BTreeMap::new();
    for line in text(dir, CODES)?.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, iso, code, id, _, aliases, ..] = *columns.as_slice() else {
            return Err(PlacesError::Format { what: format!("{CODES}: {line}") });
        };
        let Some((country, division)) = code.split_once('.') else { continue };
        if division.contains('.') {
            continue;
        }
        let translated = id.parse().ok().and_then(|id: u32| translated.get(&id));
        let in_english = translated.and_then(|names| names.get("en")).map(String::as_str);
        let in_cldr = english.get(&iso.replace('-', "").to_lowercase()).map(String::as_str);
        let own = REGION_NAMES.iter().find(|(region, _)| *region == code).map(|(_, name)| *name);
        // Without an ISO code, the name is GeoNames' own.
        let chosen = own
            .or_else(|| in_english.filter(|_| NOT_ENGLISH.contains(&country)))
            .or(in_cldr)
            .or_else(|| Some(name).filter(|_| iso.is_empty()));
        let Some(chosen) = chosen else { continue };
        let others =
            aliases.split('|').chain(translated.into_iter().flatten().map(|(_, name)| name.as_str()));
        let others = others.chain(in_cldr).chain(local.get(iso).map(String::as_str));
        let others = others.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        regions.insert(code.to_owned(), Named { name: plain(chosen), others });
    }
    Ok(regions)
}

/// The other names of countries by their codes.
pub(super) fn country_names(dir: &Path) -> Result<BTreeMap<String, Vec<String>>, PlacesError> {
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for language in LANGUAGES {
        let path = dir.join(TERRITORIES).join(language).join("territories.json");
        let territories: CldrTerritories = json(&path)?;
        for (code, name) in territories.main.into_values().flat_map(|main| main.names.territories) {
            // Such as `GB` and `GB-alt-short`; numbers are continents.
            let code = code.split('-').next().unwrap_or_default();
            if code.len() == 2 {
                names.entry(code.to_owned()).or_default().push(name);
            }
        }
    }
    let translated: BTreeMap<String, TranslatedCountry> = json(&dir.join(TRANSLATED))?;
    for (code, country) in translated {
        names.entry(code).or_default().extend(country.names.into_values());
    }
    for (code, name) in COMMON_NAMES {
        names.entry(code.to_owned()).or_default().push(name.to_owned());
    }
    Ok(names)
}

fn text(dir: &Path, name: &str) -> Result<String, PlacesError> {
    let path = dir.join(name);
    String::from_utf8(read(&path)?).map_err(|_| PlacesError::Format { what: file(&path) })
}

/// A name up to its first comma, without the superscript digits that CLDR adds to equal names (`Lacs²`).
fn plain(name: &str) -> String {
    let name = name.split(',').next().unwrap_or_default();
    name.trim_end_matches(['¹', '²', '³', '⁴', '⁵']).trim().to_owned()
}

/// The names of regions in the languages spoken there, by ISO code. The table is a JavaScript module with one property a line.
fn local_names(module: &str) -> BTreeMap<String, String> {
    let value = |line: &str, property: &str| {
        let value = line.trim().strip_prefix(property)?.trim().trim_end_matches(',');
        let quoted = value.strip_prefix(['\'', '"'])?.strip_suffix(['\'', '"'])?;
        Some(quoted.to_owned())
    };
    let (mut names, mut code) = (BTreeMap::new(), None);
    for line in module.lines() {
        code = value(line, "code:").or(code);
        if let (Some(code), Some(name)) = (&code, value(line, "name:")) {
            names.insert(code.clone(), name);
        }
    }
    names
}

/// Removes the regions that have the name of their country: both have the same photos, and the name means the country.
pub(super) fn without_namesakes(
    regions: BTreeMap<String, Named>,
    countries: &BTreeMap<String, Named>,
) -> BTreeMap<String, Named> {
    let is_country = |code: &str, region: &Named| {
        let country = code.split('.').next().and_then(|code| countries.get(code));
        country.is_some_and(|country| words::fold(&country.name) == words::fold(&region.name))
    };
    regions.into_iter().filter(|(code, region)| !is_country(code, region)).collect()
}

/// All names of countries, folded.
pub(super) fn folded_names<'a>(countries: impl Iterator<Item = &'a Named>) -> BTreeSet<String> {
    countries
        .flat_map(|country| country.others.iter().chain([&country.name]))
        .map(|name| words::fold(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_names_are_read_from_the_module() {
        let module = "export const iso31662 = [\n  {\n    code: 'ES-CT',\n    name: 'Catalunya',\n    parent: 'ES'\n  },\n  \
            {\n    code: 'IT-23',\n    name: \"Valle d'Aosta\",\n    parent: 'IT'\n  }\n]";
        let expect = [("ES-CT", "Catalunya"), ("IT-23", "Valle d'Aosta")];
        assert_eq!(local_names(module), expect.map(|(a, b)| (a.to_owned(), b.to_owned())).into());
    }

    #[test]
    fn names_of_regions_have_no_marks() {
        let check = |name: &str, expect: &str| assert_eq!(plain(name), expect);
        check("Île-de-France²", "Île-de-France");
        check("Bay, Somalia", "Bay");
        check("New York", "New York");
    }

    #[test]
    fn regions_named_like_their_country_are_left_out() {
        let named = |name: &str| Named { name: name.to_owned(), others: Vec::new() };
        let countries =
            [("PA".to_owned(), named("Panama")), ("US".to_owned(), named("United States"))].into();
        let regions = [("PA.08".to_owned(), named("Panamá")), ("US.GA".to_owned(), named("Georgia"))].into();
        let left = without_namesakes(regions, &countries);
        assert_eq!(left.keys().collect::<Vec<_>>(), ["US.GA"]);
    }
}
