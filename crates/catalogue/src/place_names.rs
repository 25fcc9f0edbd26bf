//! Places as people write them: a city, region or country of the library, alone or with the region or country that it is in, in
//! English or another language.

use accounts::Caller;
use domain::Filter;
use places::PlacePath;
use storage::{NameKind, StorageError};

use crate::{
    Catalogue,
    names::{MAX_KNOWN_NAMES, MAX_MATCHING},
};

/// What a name means, among the places of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundPlaces {
    /// Cities with their countries: `Lisbon, Portugal`.
    Cities {
        cities: Vec<String>,
        /// The regions with their countries in which the cities are, if the name has a region; empty otherwise.
        regions: Vec<String>,
    },
    /// Regions with their countries: `Bavaria, Germany`.
    Regions(Vec<String>),
    Countries(Vec<String>),
    /// No place of the library.
    Nothing,
}

/// The kinds of names that are places.
pub const PLACE_KINDS: [NameKind; 2] = [NameKind::Place, NameKind::Region];

impl FoundPlaces {
    /// The names of these places.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Cities { cities: names, .. } | Self::Regions(names) | Self::Countries(names) => names,
            Self::Nothing => &[],
        }
    }

    /// Restricts a filter to these places. If there are none, it finds nothing.
    pub fn restrict(self, filter: &mut Filter) {
        let some = |names: Vec<String>| Some(names).filter(|names| !names.is_empty());
        (filter.places, filter.regions) = match self {
            Self::Cities { cities, regions } => (Some(cities), some(regions)),
            Self::Regions(regions) | Self::Countries(regions) => (None, Some(regions)),
            Self::Nothing => (Some(Vec::new()), None),
        };
    }
}

/// A part of what a person wrote, between commas.
struct Part {
    folded: String,
    /// The places that have it as another name.
    others: Vec<PlacePath<'static>>,
}

impl Part {
    fn new(text: &str) -> Self {
        let folded = words::fold(text);
        Self { others: places::with_other_name(&folded), folded }
    }

    fn is_country(&self, name: &str, spelling: Spelling) -> bool {
        let path = PlacePath { city: None, region: None, country: name };
        self.names(name, spelling, |other| *other == path)
    }

    fn is_region(&self, region: &Known<'_>, spelling: Spelling) -> bool {
        let path = PlacePath { city: None, region: Some(region.name), country: region.country };
        self.names(region.name, spelling, |other| *other == path)
    }

    fn is_city(&self, city: &Known<'_>, spelling: Spelling) -> bool {
        self.names(city.name, spelling, |other| {
            other.city == Some(city.name) && other.country == city.country
        })
    }

    fn names(&self, name: &str, spelling: Spelling, is: impl Fn(&PlacePath<'static>) -> bool) -> bool {
        match spelling {
            Spelling::English => self.folded == words::fold(name),
            Spelling::Other => self.others.iter().any(is),
        }
    }

    /// The places that it may name, folded as the library's names are.
    fn sought(&self) -> impl Iterator<Item = String> {
        let others = self.others.iter().map(|other| match other.city.or(other.region) {
            Some(name) => words::fold_parts(&format!("{name}, {}", other.country)),
            None => words::fold_parts(other.country),
        });
        others.chain([self.folded.clone()])
    }

    /// Whether it is the country of a city or region.
    fn contains(&self, place: &Known<'_>) -> bool {
        Spelling::ALL.into_iter().any(|spelling| self.is_country(place.country, spelling))
    }
}

/// Names of a library are compared as written first: another city may have them in its own language.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    English,
    Other,
}

impl Spelling {
    const ALL: [Self; 2] = [Self::English, Self::Other];
}

/// A city or region of the library.
#[derive(Clone, Copy)]
struct Known<'a> {
    name: &'a str,
    country: &'a str,
    /// Both, as the library has them.
    full: &'a str,
}

impl<'a> Known<'a> {
    fn new(full: &'a str) -> Option<Self> {
        let (name, country) = full.split_once(", ")?;
        Some(Self { name, country, full })
    }
}

/// The places of a library, at least those that the parts of a name may mean.
struct Library<'a> {
    cities: Vec<Known<'a>>,
    regions: Vec<Known<'a>>,
    countries: Vec<&'a str>,
}

impl<'a> Library<'a> {
    fn new(names: &'a [(NameKind, String)]) -> Self {
        let of =
            |wanted| names.iter().filter(move |(kind, _)| *kind == wanted).map(|(_, name)| name.as_str());
        Self {
            cities: of(NameKind::Place).filter_map(Known::new).collect(),
            regions: of(NameKind::Region).filter_map(Known::new).collect(),
            countries: of(NameKind::Region).filter(|name| !name.contains(", ")).collect(),
        }
    }

    /// A city comes before a region of the same name, and a region before a country.
    fn find(&self, parts: &[Part]) -> Option<FoundPlaces> {
        let kinds = [Self::cities, Self::regions, Self::countries];
        kinds
            .into_iter()
            .find_map(|find| Spelling::ALL.into_iter().find_map(|spelling| find(self, parts, spelling)))
    }

    fn cities(&self, parts: &[Part], spelling: Spelling) -> Option<FoundPlaces> {
        let (first, rest) = parts.split_first()?;
        let named = self.cities.iter().copied().filter(|city| first.is_city(city, spelling));
        let named: Vec<Known<'_>> = named.collect();
        let within = |regions: Vec<Known<'a>>| {
            let regions =
                regions.into_iter().filter(|region| named.iter().any(|city| city.country == region.country));
            let regions: Vec<Known<'_>> = regions.collect();
            let is_within = |city: &Known<'_>| regions.iter().any(|region| region.country == city.country);
            (named.iter().copied().filter(is_within).collect(), regions)
        };
        let (cities, regions): (Vec<Known<'_>>, Vec<Known<'_>>) = match rest {
            [] => (named, Vec::new()),
            [one] if named.iter().any(|city| one.contains(city)) => {
                (named.iter().copied().filter(|city| one.contains(city)).collect(), Vec::new())
            }
            [region] => within(self.regions_named(region).collect()),
            [region, country] => {
                within(self.regions_named(region).filter(|region| country.contains(region)).collect())
            }
            _ => return None,
        };
        let (cities, regions) = (full(cities), full(regions));
        (!cities.is_empty()).then_some(FoundPlaces::Cities { cities, regions })
    }

    fn regions_named(&self, part: &Part) -> impl Iterator<Item = Known<'a>> {
        let is_named =
            |region: &Known<'_>| Spelling::ALL.into_iter().any(|spelling| part.is_region(region, spelling));
        self.regions.iter().copied().filter(is_named)
    }

    fn regions(&self, parts: &[Part], spelling: Spelling) -> Option<FoundPlaces> {
        let regions = self.regions.iter().copied();
        let regions = match parts {
            [one] => full(regions.filter(|region| one.is_region(region, spelling))),
            [one, country] => {
                full(regions.filter(|region| one.is_region(region, spelling) && country.contains(region)))
            }
            _ => Vec::new(),
        };
        (!regions.is_empty()).then_some(FoundPlaces::Regions(regions))
    }

    fn countries(&self, parts: &[Part], spelling: Spelling) -> Option<FoundPlaces> {
        let [part] = parts else { return None };
        let countries = self.countries.iter().filter(|name| part.is_country(name, spelling));
        let countries: Vec<String> = countries.map(|name| (*name).to_owned()).collect();
        (!countries.is_empty()).then_some(FoundPlaces::Countries(countries))
    }
}

/// The parts between commas of what a person wrote.
fn parts(written: &str) -> Vec<Part> {
    written.split(',').take(4).map(Part::new).collect()
}

fn full<'a>(places: impl IntoIterator<Item = Known<'a>>) -> Vec<String> {
    places.into_iter().take(MAX_MATCHING).map(|place| place.full.to_owned()).collect()
}

/// What a person wrote, to be found among the places of a library.
pub(crate) struct PlaceSearch(Vec<Part>);

impl PlaceSearch {
    pub(crate) fn new(written: &str) -> Self {
        Self(parts(written))
    }

    /// The folded names of all places that it may name.
    pub(crate) fn sought(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(Part::sought)
    }

    /// What it means among these names, of which those that are [`sought`](Self::sought) matter.
    pub(crate) fn among(&self, known: &[(NameKind, String)]) -> FoundPlaces {
        Library::new(known).find(&self.0).unwrap_or(FoundPlaces::Nothing)
    }
}

impl Catalogue {
    /// The places of the caller's library that a person means.
    pub async fn find_places(&self, caller: &Caller, written: &str) -> Result<FoundPlaces, StorageError> {
        let search = PlaceSearch::new(written);
        let sought: Vec<String> = search.sought().collect();
        let (store, account) = (&self.parts.store, caller.account.id);
        Ok(search.among(&store.names_like(account, &PLACE_KINDS, &sought, MAX_KNOWN_NAMES).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(written: &str) -> String {
        let places = [
            "Lisbon, Portugal",
            "Lyon, France",
            "Mexico City, Mexico",
            "Munich, Germany",
            "New York City, United States",
            "Nürnberg, Germany",
            "Sofia, Bulgaria",
            "Springfield, United States",
            "Tokyo, Japan",
            "Victoria, Canada",
            "Zürich, Switzerland",
        ];
        let regions = [
            "Bavaria, Germany",
            "Bulgaria",
            "Canada",
            "France",
            "Germany",
            "Georgia",
            "Georgia, United States",
            "Illinois, United States",
            "Japan",
            "Lisbon, Portugal",
            "Mexico",
            "New York, United States",
            "Portugal",
            "Switzerland",
            "Tokyo, Japan",
            "United States",
            "Victoria, Australia",
        ];
        let places = places.map(|name| (NameKind::Place, name.to_owned()));
        let all = [places.as_slice(), &regions.map(|name| (NameKind::Region, name.to_owned()))].concat();
        let parts = parts(written);
        // What a store returns for the texts that are sought.
        let sought: Vec<String> = parts.iter().flat_map(Part::sought).collect();
        let is_sought = |name: &str| {
            let name = format!("{}\t", words::fold_parts(name));
            sought.iter().any(|folded| name.starts_with(&format!("{folded}\t")))
        };
        let known: Vec<_> = all.iter().filter(|(_, name)| is_sought(name)).cloned().collect();
        let found = Library::new(&known).find(&parts);
        assert_eq!(found, Library::new(&all).find(&parts), "{written}");
        match found {
            None | Some(FoundPlaces::Nothing) => "nothing".to_owned(),
            Some(FoundPlaces::Cities { cities, regions }) if regions.is_empty() => cities.join("; "),
            Some(FoundPlaces::Cities { cities, regions }) => {
                format!("{} in {}", cities.join("; "), regions.join("; "))
            }
            Some(FoundPlaces::Regions(regions)) => format!("region {}", regions.join("; ")),
            Some(FoundPlaces::Countries(countries)) => format!("country {}", countries.join("; ")),
        }
    }

    #[test]
    fn places_are_found_as_people_write_them() {
        let check = |written: &str, expect: &str| assert_eq!(found(written), expect, "{written}");
        for written in ["lisbon", "Lisboa", "LISSABON", "Lisbon, Portugal", "Lisbonne, Portugal"] {
            check(written, "Lisbon, Portugal");
        }
        check("Lisbon, Lisboa, Portugal", "Lisbon, Portugal in Lisbon, Portugal");
        check("Lisbon, Spain", "nothing");
        check("zurich", "Zürich, Switzerland");
        check("New York", "New York City, United States");
        check("New York, New York", "New York City, United States in New York, United States");
        check("NYC, USA", "New York City, United States");
        check("York", "nothing");
        for written in ["Munich", "München", "Muenchen, Deutschland", "Мюнхен", "munich, germany"] {
            check(written, "Munich, Germany");
        }
        for written in [
            "Munich, Bavaria",
            "München, Bayern",
            "Munich, Bavaria, Germany",
            "Monaco di Baviera, Baviera, Germania",
        ] {
            check(written, "Munich, Germany in Bavaria, Germany");
        }
        check("Munich, Illinois", "nothing");
        check("Munich, Bavaria, Portugal", "nothing");
        check("Munich, Bavaria, Germany, Europe", "nothing");
        for written in ["Bavaria", "Bayern", "Bavière", "Bayern, Germany", "bavaria, Allemagne"] {
            check(written, "region Bavaria, Germany");
        }
        check("Bavaria, Portugal", "nothing");
        check("Springfield, Illinois", "Springfield, United States in Illinois, United States");
        // A city before a region, and a region before a country.
        check("Tokyo", "Tokyo, Japan");
        check("東京", "Tokyo, Japan");
        check("Victoria", "Victoria, Canada");
        check("Victoria, Australia", "region Victoria, Australia");
        check("Georgia", "region Georgia, United States");
        check("Germany", "country Germany");
        check("Deutschland", "country Germany");
        check("日本", "country Japan");
        check("USA", "country United States");
        check("Mexico", "country Mexico");
        check("México", "country Mexico");
        for written in ["", ",", "Lisbon,", ", Portugal", "Nairobi", "Spain"] {
            check(written, "nothing");
        }
    }
}
