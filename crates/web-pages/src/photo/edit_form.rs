//! The fields of a correction: reading them, and showing them again with what was typed.

use domain::{
    Correction, Invalid, PhotoEdit, Position, ShiftNumbers, TimeEdit, TimeShift, Zone, parse_position,
    parse_wall_time,
};
use library::FoundCity;
use maud::{Markup, html};

use super::marks_fields::{self, MarksFields};

/// The name of the button that looks cities up instead of saving.
pub(super) const FIND: &str = "find";

/// The values of the fields, as typed.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    /// Whether the description is to change; a form of one photo always contains it.
    changes_description: bool,
    description: String,
    time_action: String,
    time: String,
    time_zone: String,
    direction: String,
    days: String,
    hours: String,
    minutes: String,
    seconds: String,
    zone: String,
    place: String,
    city: String,
    latitude: String,
    longitude: String,
    marks: MarksFields,
}

/// Whether a form corrects one photo or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    One,
    Many,
}

/// The present values of a photo, for the form that corrects it.
pub(super) struct Present {
    pub(super) description: String,
    /// For a field of the type `datetime-local`.
    pub(super) time: String,
    pub(super) position: Option<Position>,
}

const KEEP: &str = "keep";
const SET: &str = "set";
const SHIFT: &str = "shift";
const ZONE: &str = "zone";
const CLEAR: &str = "clear";
const CITY: &str = "city";
const COORDINATES: &str = "coordinates";
const EARLIER: &str = "earlier";

impl Fields {
    /// The fields of a photo before anything was typed.
    pub(super) fn of(present: Present) -> Self {
        let degrees = |number: f64| format!("{number}");
        Self {
            changes_description: true,
            description: present.description,
            time: present.time,
            latitude: present.position.map(Position::latitude).map(degrees).unwrap_or_default(),
            longitude: present.position.map(Position::longitude).map(degrees).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// The fields of a form that was sent.
    pub(super) fn read<'a>(get: impl Fn(&str) -> Option<&'a str>, scope: Scope) -> Self {
        let field = |name| get(name).unwrap_or_default().to_owned();
        Self {
            changes_description: match scope {
                Scope::One => get("description").is_some(),
                Scope::Many => get("change_description").is_some(),
            },
            description: field("description"),
            time_action: field("time_action"),
            time: field("time"),
            time_zone: field("time_zone"),
            direction: field("direction"),
            days: field("days"),
            hours: field("hours"),
            minutes: field("minutes"),
            seconds: field("seconds"),
            zone: field("zone"),
            place: field("place"),
            city: field("city"),
            latitude: field("latitude"),
            longitude: field("longitude"),
            marks: if scope == Scope::Many { MarksFields::read(get) } else { MarksFields::default() },
        }
    }

    /// An invalid value with the name of its field in this form.
    pub(super) fn named(&self, invalid: Invalid) -> Invalid {
        match invalid.field {
            "zone" if self.time_action == SET => Invalid { field: "time_zone", ..invalid },
            _ => invalid,
        }
    }

    /// The name of the city to look up. `None` if the look-up button was not pressed and the place is not a city's name.
    pub(super) fn wanted_city<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> Option<&str> {
        (get(FIND).is_some() || self.place == CITY).then_some(&*self.city)
    }

    /// Selects the city that the name means; `false` if one has to be chosen first.
    pub(super) fn choose(&mut self, cities: &[FoundCity]) -> bool {
        let meant = places::unambiguous(cities);
        self.place = meant.map_or_else(|| CITY.to_owned(), value_of);
        meant.is_some()
    }

    /// The correction. A description that equals `description` stays.
    ///
    /// # Errors
    /// The first field with an invalid value.
    pub(super) fn edit(&self, description: Option<&str>) -> Result<PhotoEdit, Invalid> {
        let typed = Correction::description(&self.description);
        let is_same = match &typed {
            Correction::Set(text) => description == Some(text),
            Correction::Clear | Correction::Keep | Correction::Revert => description == Some(""),
        };
        Ok(PhotoEdit {
            description: if self.changes_description && !is_same { typed } else { Correction::Keep },
            time: self.time_edit()?,
            position: self.position()?,
            marks: self.marks.edit()?,
        })
    }

    fn time_edit(&self) -> Result<Option<TimeEdit>, Invalid> {
        Ok(match self.time_action.as_str() {
            SET => {
                let wall = parse_wall_time(&self.time)?;
                let zone = match self.time_zone.trim() {
                    "" => None,
                    zone => Some(Zone::parse(zone)?),
                };
                Some(TimeEdit::Set { wall, zone })
            }
            SHIFT => {
                let numbers = ShiftNumbers {
                    days: &self.days,
                    hours: &self.hours,
                    minutes: &self.minutes,
                    seconds: &self.seconds,
                };
                Some(TimeEdit::Shift(TimeShift::parse(self.direction == EARLIER, numbers)?))
            }
            ZONE => Some(TimeEdit::Zone(Zone::parse(&self.zone)?)),
            _ => None,
        })
    }

    fn position(&self) -> Result<Correction<Position>, Invalid> {
        let is_empty = || Invalid::new("latitude", "must be filled in");
        match self.place.as_str() {
            "" | KEEP => Ok(Correction::Keep),
            CLEAR => Ok(Correction::Clear),
            COORDINATES => {
                parse_position(&self.latitude, &self.longitude)?.map(Correction::Set).ok_or_else(is_empty)
            }
            // The position of a city that was found.
            city => {
                let (latitude, longitude) = city.split_once(',').unwrap_or((city, ""));
                parse_position(latitude, longitude)?.map(Correction::Set).ok_or_else(is_empty)
            }
        }
    }

    /// The fields, with the cities that were found by the name, if one was looked up.
    pub(super) fn markup(
        &self,
        scope: Scope,
        cities: Option<&[FoundCity]>,
        invalid: Option<&Invalid>,
    ) -> Markup {
        let show = Show { fields: self, invalid };
        html! {
            @if scope == Scope::Many { (self.marks.markup(&show)) }
            (show.description(scope))
            (show.times(scope))
            (show.places(cities))
        }
    }
}

/// Says that a form was not saved, because the name of a city may mean several.
pub(super) fn unsaved() -> Markup {
    html! { p.notice.warn role="alert" { "Nothing was saved yet. Choose the city below or correct its name, then save again." } }
}

fn value_of(city: &FoundCity) -> String {
    format!("{},{}", city.position.latitude(), city.position.longitude())
}

/// What a field with an invalid value is called, for the message above the form.
pub(super) fn label_of(invalid: &Invalid) -> &'static str {
    match invalid.field {
        "time" => "Time on the clock",
        "time_zone" => "Time zone",
        "zone" => "Time zone of the clock",
        "days" => "Days",
        "hours" => "Hours",
        "minutes" => "Minutes",
        "seconds" => "Seconds",
        "latitude" => "Latitude",
        "longitude" => "Longitude",
        other => marks_fields::label_of(other).unwrap_or(other),
    }
}

/// The fields with the values and the problem that they show.
pub(super) struct Show<'a> {
    fields: &'a Fields,
    invalid: Option<&'a Invalid>,
}

impl Show<'_> {
    fn is_invalid(&self, name: &str) -> bool {
        self.invalid.is_some_and(|invalid| invalid.field == name)
    }

    /// The message beside the field with the invalid value.
    fn problem(&self, name: &str) -> Markup {
        html! {
            @if let Some(invalid) = self.invalid.filter(|invalid| invalid.field == name) {
                span.problem id={ (name) "-problem" } { "This value " (invalid.reason) "." }
            }
        }
    }

    /// The id of the message, for the field.
    fn described_by(&self, name: &str) -> Option<String> {
        self.is_invalid(name).then(|| format!("{name}-problem"))
    }

    /// A labelled field.
    pub(super) fn input(
        &self,
        name: &str,
        label: &str,
        value: &str,
        kind: &str,
        hint: Option<&str>,
    ) -> Markup {
        let is_number = kind == "number";
        let is_time = kind == "datetime-local";
        let hint_id = hint.map(|_| format!("{name}-hint"));
        let described_by = self.described_by(name).or(hint_id);
        html! {
            div.field {
                label for=(name) { (label) }
                input id=(name) name=(name) type=(kind) value=(value) autocomplete="off"
                    min=[is_number.then_some("0")] step=[is_time.then_some("1")]
                    aria-invalid=[self.is_invalid(name).then_some("true")] aria-describedby=[described_by]
                    autofocus[self.is_invalid(name)];
                @if let Some(hint) = hint { span.hint id={ (name) "-hint" } { (hint) } }
                (self.problem(name))
            }
        }
    }

    fn radio(name: &str, value: &str, chosen: &str, label: &Markup) -> Markup {
        html! {
            label.check {
                input type="radio" name=(name) value=(value) checked[chosen == value];
                span { (label) }
            }
        }
    }

    fn description(&self, scope: Scope) -> Markup {
        let fields = self.fields;
        html! {
            fieldset #of-description {
                legend { "Description" }
                @if scope == Scope::Many {
                    label.check {
                        input type="checkbox" name="change_description" value="yes" checked[fields.changes_description];
                        span { "Give all photos this description; empty removes it" }
                    }
                }
                label.unseen for="description" { "Description" }
                textarea #description name="description" rows="3" { (fields.description) }
            }
        }
    }

    fn times(&self, scope: Scope) -> Markup {
        let fields = self.fields;
        let chosen = if fields.time_action.is_empty() { KEEP } else { fields.time_action.as_str() };
        let radio = |value, label: &str| Self::radio("time_action", value, chosen, &html! { (label) });
        let direction = |value, label: &str| {
            let chosen = if fields.direction.is_empty() { "later" } else { fields.direction.as_str() };
            Self::radio("direction", value, chosen, &html! { (label) })
        };
        let set = match scope {
            Scope::One => "Set the time",
            Scope::Many => "Set the same time for all photos",
        };
        html! {
            fieldset #of-time {
                legend { "Time" }
                (radio(KEEP, "Leave the time as it is"))
                (radio(SET, set))
                div.part {
                    (self.input("time", "Time on the clock", &fields.time, "datetime-local", None))
                    (self.input(
                        "time_zone",
                        "Time zone",
                        &fields.time_zone,
                        "text",
                        Some("Such as +01:00 or Europe/Lisbon. Empty: the zone of the photo."),
                    ))
                }
                (radio(SHIFT, "Shift the time, because the clock was wrong"))
                div.part role="group" aria-label="Shift the time" {
                    (direction("later", "Later"))
                    (direction(EARLIER, "Earlier"))
                    div.numbers {
                        (self.input("days", "Days", &fields.days, "number", None))
                        (self.input("hours", "Hours", &fields.hours, "number", None))
                        (self.input("minutes", "Minutes", &fields.minutes, "number", None))
                        (self.input("seconds", "Seconds", &fields.seconds, "number", None))
                    }
                }
                (radio(ZONE, "Change the time zone and keep the time on the clock"))
                div.part {
                    (self.input(
                        "zone",
                        "Time zone of the clock",
                        &fields.zone,
                        "text",
                        Some("Such as +01:00 or Europe/Lisbon."),
                    ))
                }
            }
        }
    }

    fn places(&self, cities: Option<&[FoundCity]>) -> Markup {
        let fields = self.fields;
        let chosen = if fields.place.is_empty() { KEEP } else { fields.place.as_str() };
        let radio = |value: &str, label: &Markup| Self::radio("place", value, chosen, label);
        // A city that was chosen before the form was shown again.
        let is_found = cities.is_some_and(|cities| cities.iter().any(|city| value_of(city) == chosen));
        let is_other_city = chosen.contains(',') && !is_found;
        html! {
            fieldset #of-place {
                legend { "Place" }
                (radio(KEEP, &html! { "Leave the place as it is" }))
                @if is_other_city { (radio(chosen, &html! { "The chosen city, at " (chosen) })) }
                (radio(CITY, &html! { "A city" }))
                div.part {
                    div.beside {
                        (self.input("city", "Name of the city", &fields.city, "text", Some("Or its beginning. A country may follow after a comma.")))
                        button.quiet type="submit" name=(FIND) value="cities" { "Find cities" }
                    }
                    @if let Some(cities) = cities {
                        div role="group" aria-label="Cities" {
                            p role="status" {
                                @match cities {
                                    [] if fields.city.trim().is_empty() => { "Enter the name of a city." }
                                    [] => { "No city has a name that begins with “" (fields.city) "”." }
                                    [_] => { "One city was found." }
                                    _ => { "Choose one of these cities." }
                                }
                            }
                            @for city in cities {
                                (radio(&value_of(city), &html! { (city) }))
                            }
                        }
                    }
                }
                (radio(COORDINATES, &html! { "Coordinates" }))
                div.part.numbers {
                    (self.input("latitude", "Latitude", &fields.latitude, "text", None))
                    (self.input("longitude", "Longitude", &fields.longitude, "text", None))
                }
                (radio(CLEAR, &html! { "Remove the place" }))
            }
        }
    }
}
