//! Photos to begin with: of this day in earlier years, and one of each place, year and camera.

use accounts::Caller;
use domain::{DateRange, Filter, Image, Keyword, Limit, Month, UtcOffset};
use storage::{MonthTotal, NameKind, StorageError};

use crate::{Catalogue, search::MAX_NAMES};

/// The newest photo that was taken on this day of the calendar, in a year.
#[derive(Debug, Clone, PartialEq)]
pub struct DayInYear {
    /// At least 1.
    pub years_ago: i16,
    /// The day, such as `2019-07-14`.
    pub day: String,
    pub image: Image,
}

/// A name, and the newest photo that has it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedImage {
    pub name: String,
    pub image: Image,
}

/// What a library has, as pictures. Archived photos are left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Explore {
    /// The newest first.
    pub on_this_day: Vec<DayInYear>,
    /// The photos that were added last.
    pub added: Vec<Image>,
    /// The newest favourite.
    pub favorite: Option<Image>,
    /// Those of the newest photos first, as in the following lists.
    pub places: Vec<NamedImage>,
    pub countries: Vec<NamedImage>,
    pub years: Vec<NamedImage>,
    pub cameras: Vec<NamedImage>,
    pub keywords: Vec<NamedImage>,
}

/// Maximum number of photos that were added last.
const ADDED: u32 = 12;
/// Maximum number of names of a kind, and of years on this day.
const NAMES: usize = 12;
/// Maximum number of years.
const YEARS: usize = 40;

/// Filters that leave out archived photos.
fn present(filter: Filter) -> Filter {
    Filter { archived: Some(false), ..filter }
}

impl Catalogue {
    /// The newest photo of this day in each earlier year. The day is that of a clock at this offset. `months` are those of [`timeline_months`](Self::timeline_months).
    pub async fn on_this_day(
        &self,
        caller: &Caller,
        months: &[MonthTotal],
        offset: Option<UtcOffset>,
    ) -> Result<Vec<DayInYear>, StorageError> {
        let (days, filters) = self.this_day(months, offset);
        if days.is_empty() {
            return Ok(Vec::new());
        }
        let one = Limit::new(1).unwrap_or_default();
        let found = self.parts.store.newest_of_each(self.viewer(caller), &filters, one).await?;
        let days = days.into_iter().zip(found).filter_map(|((years_ago, day), images)| {
            Some(DayInYear { years_ago, day, image: images.into_iter().next()? })
        });
        Ok(days.take(NAMES).collect())
    }

    /// This day in earlier years: how many years ago and its date, and the filters of its photos.
    fn this_day(
        &self,
        months: &[MonthTotal],
        offset: Option<UtcOffset>,
    ) -> (Vec<(i16, String)>, Vec<Filter>) {
        let today = self.parts.clock.now().wall(offset.map_or(0, UtcOffset::minutes)).date();
        let mut years: Vec<i16> =
            months.iter().map(|total| total.month.year()).filter(|year| *year < today.year()).collect();
        years.sort_unstable_by(|a, b| b.cmp(a));
        years.dedup();
        let day = |year: i16| {
            let number = u32::from(year.unsigned_abs()) * 100 + u32::from(today.month().unsigned_abs());
            let month = Month::from_number(number)?;
            months.iter().find(|total| total.month == month)?;
            let range = month.day(today.day())?;
            let (years_ago, date) = (today.year() - year, range.start().wall(0).date());
            Some(((years_ago, date.to_string()), present(Filter { wall: Some(range), ..Filter::default() })))
        };
        years.into_iter().filter_map(day).take(YEARS).unzip()
    }

    /// What the caller's library has. This day is that of a clock where the last photo was taken.
    pub async fn explore(&self, caller: &Caller) -> Result<Explore, StorageError> {
        let (store, viewer) = (&self.parts.store, self.viewer(caller));
        let names = |kind| store.names(viewer, kind, MAX_NAMES);
        let (months, places, regions, cameras, keywords, added) = tokio::try_join!(
            store.timeline_months(viewer),
            names(NameKind::Place),
            names(NameKind::Region),
            names(NameKind::Camera),
            names(NameKind::Keyword),
            store.added_last(viewer, ADDED),
        )?;
        let countries = regions.into_iter().filter(|name| !name.contains(", "));
        let years = months.chunk_by(|a, b| a.month.year() == b.month.year());
        let years = years.filter_map(|months| months.first()).map(|total| total.month.year());
        let mut wanted: Vec<(List, String, Filter)> = Vec::new();
        let mut want = |list, name: String, filter| wanted.push((list, name, present(filter)));
        let one = |name: &String| Some(vec![name.clone()]);
        want(List::Favorites, String::new(), Filter { favorite: Some(true), ..Filter::default() });
        for name in places.into_iter().take(NAMES) {
            let filter = Filter { places: one(&name), ..Filter::default() };
            want(List::Places, name, filter);
        }
        for name in countries.take(NAMES) {
            let filter = Filter { regions: one(&name), ..Filter::default() };
            want(List::Countries, name, filter);
        }
        for year in years.take(YEARS) {
            let number = u32::from(year.unsigned_abs()) * 100;
            let [first, last] = [1, 12].map(|month| Month::from_number(number + month));
            let (Some(first), Some(last)) = (first, last) else { continue };
            let wall = DateRange::new(Some(first.range().start()), Some(last.range().end())).ok();
            want(List::Years, year.to_string(), Filter { wall, ..Filter::default() });
        }
        for name in cameras.into_iter().take(NAMES) {
            let filter = Filter { cameras: one(&name), ..Filter::default() };
            want(List::Cameras, name, filter);
        }
        for name in keywords.into_iter().take(NAMES) {
            let keyword = Keyword::parse(&name).ok();
            want(List::Keywords, name, Filter { keyword, ..Filter::default() });
        }
        let offset = added.first().and_then(|image| image.utc_offset);
        let (filters, one) =
            (wanted.iter().map(|(_, _, filter)| filter.clone()), Limit::new(1).unwrap_or_default());
        let filters: Vec<Filter> = filters.collect();
        let (found, on_this_day) = tokio::try_join!(
            store.newest_of_each(viewer, &filters, one),
            self.on_this_day(caller, &months, offset),
        )?;
        let mut explore = Explore { added, on_this_day, ..Explore::default() };
        for ((list, name, _), images) in wanted.into_iter().zip(found) {
            let Some(image) = images.into_iter().next() else { continue };
            match list {
                List::Favorites => explore.favorite = Some(image),
                List::Places => explore.places.push(NamedImage { name, image }),
                List::Countries => explore.countries.push(NamedImage { name, image }),
                List::Years => explore.years.push(NamedImage { name, image }),
                List::Cameras => explore.cameras.push(NamedImage { name, image }),
                List::Keywords => explore.keywords.push(NamedImage { name, image }),
            }
        }
        Ok(explore)
    }
}

/// The list of [`Explore`] that a photo is for.
#[derive(Debug, Clone, Copy)]
enum List {
    Favorites,
    Places,
    Countries,
    Years,
    Cameras,
    Keywords,
}
