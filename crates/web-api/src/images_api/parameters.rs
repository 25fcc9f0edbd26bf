use domain::{
    Channels, Circle, DateRange, Filter, FilterNames, Invalid, Keyword, Limit, ListQuery, Media, Offset,
    QueryText, SearchQuery, parse_decimal,
};

use http_server::Query;

fn limit(query: &Query<'_>) -> Result<Limit, Invalid> {
    query.get("limit").map_or(Ok(Limit::default()), Limit::parse)
}

fn range(query: &Query<'_>) -> Result<DateRange, Invalid> {
    DateRange::parse(query.get("startDate"), query.get("endDate"))
}

fn circle(query: &Query<'_>) -> Result<Option<Circle>, Invalid> {
    let decimal = |field| query.get(field).map(|value| parse_decimal(field, value)).transpose();
    Circle::from_parts(decimal("latitude")?, decimal("longitude")?, decimal("radiusMeters")?)
}

fn flag(query: &Query<'_>, name: &'static str) -> Result<Option<bool>, Invalid> {
    match query.get(name).map(str::trim) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(_) => Err(Invalid::new(name, "must be true or false")),
    }
}

/// A name to filter by, at most 200 characters.
fn name(query: &Query<'_>, name: &'static str) -> Result<Option<String>, Invalid> {
    match query.get(name).map(str::trim) {
        Some(text) if text.chars().count() > 200 || text.contains('\0') => {
            Err(Invalid::new(name, "must have 1 to 200 characters, without NUL"))
        }
        text => Ok(text.map(str::to_owned)),
    }
}

fn filter(query: &Query<'_>) -> Result<Filter, Invalid> {
    let keyword = |text| Keyword::parse(text).map_err(|invalid| Invalid { field: "keyword", ..invalid });
    Ok(Filter {
        range: range(query)?,
        circle: circle(query)?,
        media: query.get("media").map(Media::parse).transpose()?,
        favorite: flag(query, "favorite")?,
        archived: flag(query, "archived")?,
        people: name(query, "people")?,
        keyword: query.get("keyword").map(keyword).transpose()?,
        ..Filter::default()
    })
}

fn names(query: &Query<'_>) -> Result<FilterNames, Invalid> {
    Ok(FilterNames { camera: name(query, "camera")?, place: name(query, "place")? })
}

/// The parameters of List images.
pub(super) fn list_query(query: &Query<'_>) -> Result<ListQuery, Invalid> {
    Ok(ListQuery { limit: limit(query)?, names: names(query)?, filter: filter(query)? })
}

/// The parameters of Search images.
pub(super) fn search_query(query: &Query<'_>) -> Result<SearchQuery, Invalid> {
    SearchQuery::new(
        query.get("query").map(QueryText::parse).transpose()?,
        query.get("channels").map(Channels::parse).transpose()?,
        query.get("albumId").map(str::to_owned),
        filter(query)?,
        names(query)?,
        limit(query)?,
    )
}

/// The parameters of List albums.
pub(super) fn album_page(query: &Query<'_>) -> Result<(Limit, Offset), Invalid> {
    let offset = query.get("offset").map_or(Ok(Offset::default()), Offset::parse)?;
    Ok((limit(query)?, offset))
}
