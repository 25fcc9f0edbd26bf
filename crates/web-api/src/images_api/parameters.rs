use domain::{
    Channels, Circle, DateRange, Filter, Invalid, Limit, ListQuery, Offset, QueryText, SearchQuery,
    parse_decimal,
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

fn filter(query: &Query<'_>) -> Result<Filter, Invalid> {
    Ok(Filter { range: range(query)?, circle: circle(query)?, ..Filter::default() })
}

/// The parameters of List images.
pub(super) fn list_query(query: &Query<'_>) -> Result<ListQuery, Invalid> {
    Ok(ListQuery { limit: limit(query)?, filter: filter(query)? })
}

/// The parameters of Search images.
pub(super) fn search_query(query: &Query<'_>) -> Result<SearchQuery, Invalid> {
    SearchQuery::new(
        query.get("query").map(QueryText::parse).transpose()?,
        query.get("channels").map(Channels::parse).transpose()?,
        query.get("albumId").map(str::to_owned),
        filter(query)?,
        limit(query)?,
    )
}

/// The parameters of List albums.
pub(super) fn album_page(query: &Query<'_>) -> Result<(Limit, Offset), Invalid> {
    let offset = query.get("offset").map_or(Ok(Offset::default()), Offset::parse)?;
    Ok((limit(query)?, offset))
}
