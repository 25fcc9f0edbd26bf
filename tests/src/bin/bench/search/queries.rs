use super::vocabulary::Vocabulary;

#[derive(Debug, Clone, Copy)]
pub(super) enum SearchKind {
    Text,
    CommonWord,
    TextOfThreeWords,
    Image,
    Merged,
    Everything,
    MergedInCircle,
    MergedInLargeCircle,
    Circle,
    MergedInMonth,
    MergedInAlbum,
}

impl SearchKind {
    pub(super) const ALL: [Self; 11] = [
        Self::Text,
        Self::CommonWord,
        Self::TextOfThreeWords,
        Self::Image,
        Self::Merged,
        Self::Everything,
        Self::MergedInCircle,
        Self::MergedInLargeCircle,
        Self::Circle,
        Self::MergedInMonth,
        Self::MergedInAlbum,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text, a word",
            Self::CommonWord => "text, one of the ten commonest words",
            Self::TextOfThreeWords => "text, three words",
            Self::Image => "image, two words",
            Self::Merged => "text and image, two words",
            Self::Everything => "no channels named, two words",
            Self::MergedInCircle => "the same within 5 km",
            Self::MergedInLargeCircle => "the same within 300 km",
            Self::Circle => "a circle of 5 km alone",
            Self::MergedInMonth => "two words in a month",
            Self::MergedInAlbum => "two words in an album of 2,000",
        }
    }

    /// The query string of a URL. It differs for each number.
    pub(super) fn query(self, number: u32) -> String {
        thread_local! {
            static VOCABULARY: Vocabulary = Vocabulary::new();
        }
        VOCABULARY.with(|vocabulary| self.query_in(vocabulary, usize::try_from(number).unwrap_or(0)))
    }

    fn query_in(self, vocabulary: &Vocabulary, number: usize) -> String {
        let rare = vocabulary.word(200 + number * 37 % 5000);
        let medium = vocabulary.word(20 + number * 13 % 200);
        let common = vocabulary.word(number % 10);
        let circle = |radius_m: u32| {
            let (latitude, longitude) = (461 + number % 38, 91 + number * 7 % 58);
            format!(
                "latitude={}.{}&longitude={}.{}&radiusMeters={radius_m}",
                latitude / 10,
                latitude % 10,
                longitude / 10,
                longitude % 10
            )
        };
        let two = format!("query={medium}+{rare}");
        match self {
            Self::Text => format!("channels=text&query={rare}"),
            Self::CommonWord => format!("channels=text&query={common}"),
            Self::TextOfThreeWords => format!("channels=text&query={common}+{medium}+{rare}"),
            Self::Image => format!("channels=image&{two}"),
            Self::Merged => format!("channels=text,image&{two}"),
            Self::Everything => two,
            Self::MergedInCircle => format!("{two}&{}", circle(5_000)),
            Self::MergedInLargeCircle => format!("{two}&{}", circle(300_000)),
            Self::Circle => circle(5_000),
            Self::MergedInMonth => {
                let (year, month) = (2015 + number % 8, 1 + number % 12);
                format!("{two}&startDate={year}-{month:02}-01&endDate={year}-{month:02}-28")
            }
            Self::MergedInAlbum => format!("{two}&albumId={}", super::seeding::ALBUM),
        }
    }
}
