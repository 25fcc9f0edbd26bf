//! `/web/months`, `/web/month/{yyyymm}`, `/web/months/around` and `/web/timeline`: the timeline as data for scripts.

use std::collections::HashMap;

use data_encoding::{BASE64, HEXLOWER};
use domain::{Image, LocalRange, LocalTime, Month};
use http::{HeaderValue, StatusCode, header, request::Parts};
use http_server::{
    Query,
    file::{File, serve_file},
    reply::{Reply, WithHeader as _, compressible, error, internal_error, not_found},
    response_body::full,
};
use library::{MonthTotal, StorageError, TimelineOrder};
use serde::Serialize;

use crate::{
    Site, messages,
    photo_text::{described, shortened},
    session::Person,
    tiles::tile_ratio,
};

/// The path prefix of the data.
pub(super) const PREFIX: &str = "/web/month";

/// What an open page asks for, to know whether it is out of date.
pub(super) const STATE_PATH: &str = "/web/timeline";

/// What the filmstrip of the photo page and the slider of the timeline ask for.
const AROUND_PATH: &str = "/web/months/around";

/// Photos in one reply.
const PAGE: u32 = 500;

/// Photos on each side of one in the filmstrip.
const AROUND: u32 = 30;

pub(super) async fn handle(site: &Site, parts: &Parts, person: &Person) -> Reply {
    let path = parts.uri.path();
    match path {
        "/web/months" => return months(site, parts, person).await,
        STATE_PATH => return state(site, parts, person).await,
        AROUND_PATH => return around(site, parts, person).await,
        _ => {}
    }
    let month = path.strip_prefix("/web/month/").filter(|digits| digits.len() == 6);
    match month.and_then(|digits| digits.parse().ok()).and_then(Month::from_number) {
        Some(month) => photos(site, parts, person, month).await,
        None => not_found(),
    }
}

/// The months of the timeline.
#[derive(Serialize)]
struct Months {
    /// Changes whenever another field does.
    r#gen: String,
    total: u64,
    /// Month, number of photos, sum of their ratios.
    m: Vec<(u32, u32, f64)>,
}

impl Months {
    fn of(totals: &[MonthTotal]) -> Self {
        Self {
            r#gen: generation(totals),
            total: totals.iter().map(|total| u64::from(total.photos)).sum(),
            m: totals
                .iter()
                .map(|total| (total.month.number(), total.photos, thousandths(total.ratio_sum)))
                .collect(),
        }
    }
}

/// A text that changes with the photos of the months.
pub(super) fn generation(totals: &[MonthTotal]) -> String {
    let mut text = String::new();
    for total in totals {
        text.push_str(&format!("{},{},{};", total.month.number(), total.photos, total.ratio_sum));
    }
    short_hash(text.as_bytes())
}

fn short_hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(keys::sha256(bytes).get(..8).unwrap_or_default())
}

#[expect(clippy::cast_precision_loss, reason = "a ratio sum has far fewer than 53 bits")]
fn thousandths(number: u64) -> f64 {
    number as f64 / 1000.0
}

async fn months(site: &Site, parts: &Parts, person: &Person) -> Reply {
    match site.library.catalogue.timeline_months(&person.caller()).await {
        Ok(totals) => data(parts, &Months::of(&totals)).await,
        Err(error) => messages::data_unavailable(&error),
    }
}

/// What the timeline shows, in a few bytes.
#[derive(Serialize)]
struct StateData {
    /// The same value as in the list of months.
    r#gen: String,
    /// Photos that are being read.
    reading: u32,
    /// Those of the photos in the request that can be shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    there: Vec<String>,
}

/// Maximum number of photos of which a request asks whether they can be shown.
const MAX_ASKED: usize = 50;

async fn state(site: &Site, parts: &Parts, person: &Person) -> Reply {
    match load_state(site, parts, person).await {
        Ok(state) => data(parts, &state).await,
        Err(error) => messages::data_unavailable(&error),
    }
}

/// Photos before and after a place in the timeline, newest first.
#[derive(Serialize)]
struct Around<'a> {
    id: Vec<&'a str>,
    v: Vec<u32>,
    /// Each in words.
    alt: Vec<String>,
    /// The number of photos after the place.
    newer: usize,
}

/// `?at=`: the photos around a place in the timeline, with that of the place itself.
async fn around(site: &Site, parts: &Parts, person: &Person) -> Reply {
    let query = Query::parse(parts.uri.query());
    let Some(at) = query.get("at").and_then(LocalTime::parse) else {
        return error(StatusCode::BAD_REQUEST, "at must be a time in milliseconds since 1970");
    };
    match photos_around(site, person, at).await {
        Ok((images, newer)) => {
            let around = Around {
                newer,
                id: images.iter().map(|image| image.id.as_str()).collect(),
                v: images.iter().map(|image| image.picture_version).collect(),
                alt: images.iter().map(described).collect(),
            };
            data(parts, &around).await
        }
        Err(error) => messages::data_unavailable(&error),
    }
}

/// The photos, and how many of them are newer than the place.
async fn photos_around(
    site: &Site,
    person: &Person,
    at: LocalTime,
) -> Result<(Vec<Image>, usize), StorageError> {
    let (caller, catalogue) = (person.caller(), &site.library.catalogue);
    let (after, until) = (LocalRange::after(at), LocalRange::until(at));
    let mut images = catalogue.timeline_page(&caller, after, TimelineOrder::OldestFirst, AROUND).await?;
    images.reverse();
    let newer = images.len();
    images.extend(catalogue.timeline_page(&caller, until, TimelineOrder::NewestFirst, AROUND + 1).await?);
    Ok((images, newer))
}

async fn load_state(site: &Site, parts: &Parts, person: &Person) -> Result<StateData, StorageError> {
    let caller = person.caller();
    // Before the photos, so that a photo that is neither waiting nor there will not come.
    let state = site.library.catalogue.timeline_state(&caller).await?;
    let query = Query::parse(parts.uri.query());
    let asked = query.get("photos").unwrap_or_default();
    let asked: Vec<String> =
        asked.split(',').filter(|id| !id.is_empty()).take(MAX_ASKED).map(str::to_owned).collect();
    let there = match asked.as_slice() {
        [] => Vec::new(),
        ids => site.library.catalogue.images(&caller, ids).await?,
    };
    let there = there.into_iter().flatten().map(|image| image.id.to_string()).collect();
    Ok(StateData { r#gen: generation(&state.months), reading: state.waiting, there })
}

/// Photos of a month as columns, newest first.
#[derive(Serialize)]
struct Photos<'a> {
    id: Vec<&'a str>,
    /// The place of the first as [`LocalTime::millis`] gives it, then the difference of each to the one before, as a positive
    /// number.
    t: Vec<Millis>,
    r: Vec<f64>,
    v: Vec<u32>,
    h: Vec<String>,
    places: Vec<&'a str>,
    p: Vec<i64>,
    d: HashMap<usize, String>,
    next: Option<f64>,
    prev: Option<f64>,
}

/// A number without needless decimals.
#[derive(Serialize)]
#[serde(untagged)]
enum Millis {
    Whole(i64),
    Exact(f64),
}

impl From<f64> for Millis {
    #[expect(clippy::cast_possible_truncation, reason = "times have far fewer than 53 bits")]
    fn from(millis: f64) -> Self {
        if millis.fract() == 0.0 { Self::Whole(millis as i64) } else { Self::Exact(millis) }
    }
}

/// A part of a month.
enum Part {
    Newest,
    Before(LocalTime),
    After(LocalTime),
}

impl Part {
    fn parse(query: &Query<'_>) -> Result<Self, String> {
        let moment = |name| query.get(name).map(|text| LocalTime::parse(text).ok_or(name)).transpose();
        let invalid = |name| format!("{name} must be a time in milliseconds since 1970");
        match (moment("before").map_err(invalid)?, moment("after").map_err(invalid)?) {
            (None, None) => Ok(Self::Newest),
            (Some(before), None) => Ok(Self::Before(before)),
            (None, Some(after)) => Ok(Self::After(after)),
            (Some(_), Some(_)) => Err("before and after exclude each other".to_owned()),
        }
    }

    /// The range of this part of a month, and the end from which its photos are taken.
    fn range(&self, month: Month) -> (LocalRange, TimelineOrder) {
        let whole = LocalRange::of_month(month);
        match self {
            Self::Newest => (whole, TimelineOrder::NewestFirst),
            Self::Before(before) => (whole.and(LocalRange::before(*before)), TimelineOrder::NewestFirst),
            Self::After(after) => (whole.and(LocalRange::after(*after)), TimelineOrder::OldestFirst),
        }
    }
}

async fn photos(site: &Site, parts: &Parts, person: &Person, month: Month) -> Reply {
    let part = match Part::parse(&Query::parse(parts.uri.query())) {
        Ok(part) => part,
        Err(message) => return error(StatusCode::BAD_REQUEST, &message),
    };
    let (range, order) = part.range(month);
    match site.library.catalogue.timeline_page(&person.caller(), range, order, PAGE + 1).await {
        Ok(mut images) => {
            let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
            let has_more = images.len() > page;
            images.truncate(page);
            if order == TimelineOrder::OldestFirst {
                images.reverse();
            }
            data(parts, &columns(&images, &part, has_more)).await
        }
        Err(error) => messages::data_unavailable(&error),
    }
}

fn columns<'a>(images: &'a [Image], part: &Part, has_more: bool) -> Photos<'a> {
    let mut places: Vec<&str> = Vec::new();
    let mut indexes: HashMap<&str, i64> = HashMap::new();
    let mut place_of = |image: &'a Image| {
        let Some(place) = image.place.as_deref() else { return -1 };
        *indexes.entry(place).or_insert_with(|| {
            places.push(place);
            i64::try_from(places.len()).unwrap_or(i64::MAX) - 1
        })
    };
    let p = images.iter().map(&mut place_of).collect();
    let times: Vec<f64> = images.iter().map(|image| image.local_time().millis()).collect();
    let described = images
        .iter()
        .enumerate()
        .filter_map(|(index, image)| Some((index, shortened(image.details.description.as_deref()?))));
    let (first, last) = (times.first().copied(), times.last().copied());
    let (next, prev) = match part {
        Part::Newest => (last.filter(|_| has_more), None),
        // It is unknown whether there are photos on the other side. A request for them finds out.
        Part::Before(_) => (last.filter(|_| has_more), first),
        Part::After(_) => (last, first.filter(|_| has_more)),
    };
    Photos {
        id: images.iter().map(|image| image.id.as_str()).collect(),
        t: first
            .into_iter()
            .chain(times.windows(2).filter_map(|pair| Some(pair.first()? - pair.last()?)))
            .map(Millis::from)
            .collect(),
        r: images.iter().map(|image| thousandths(tile_ratio(image))).collect(),
        v: images.iter().map(|image| image.picture_version).collect(),
        h: images
            .iter()
            .map(|image| {
                image.thumbhash.as_ref().map_or_else(String::new, |hash| BASE64.encode(hash.as_bytes()))
            })
            .collect(),
        places,
        p,
        d: described.collect(),
        next,
        prev,
    }
}

/// JSON that the browser caches, and revalidates before each use.
async fn data(parts: &Parts, value: &impl Serialize) -> Reply {
    let Ok(json) = serde_json::to_vec(value) else { return internal_error() };
    let tag = short_hash(&json);
    let file = File { tag: &tag, bytes: json.len() as u64, content_type: "application/json" };
    let mut whole = parts.clone();
    whole.headers.remove(header::RANGE);
    let open = async |_| Ok::<_, std::convert::Infallible>(full(json));
    let Ok(reply) = serve_file(&whole, file, open).await;
    compressible(reply.with(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")))
}
