use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use ::tests::black_box::AnyError;
use domain::{
    AlbumChange, AlbumTitle, Channels, Circle, DateRange, Filter, FilterNames, ImageId, Keyword, Limit,
    ListQuery, Plan, Position, QueryText, SearchQuery, SearchTarget, Timestamp,
};
use library::{Caller, Library};
use oauth_core::{
    CodeStatus, CurrentRefreshToken, Grant, GrantKey, IssuedCode, NewCode, NewRefreshToken, Redemption,
    Rotation, SecretHash, UnixMillis,
};
use storage::{AlbumWrite, Lookup, NameKind, NewAlbum, SharedStore, TextColumns, Viewer};

use super::postgres::processor_time;
use crate::search::{serving, vocabulary::Vocabulary};

/// How many grants are refreshed in turn.
const GRANTS: u32 = 16;
const YEAR_MS: i64 = 365 * 24 * 3600 * 1000;

#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    List,
    ListFree,
    ListFiltered,
    Get,
    Circle,
    LargeCircle,
    Word,
    CommonWord,
    ThreeWords,
    Look,
    Merged,
    ChangeAlbum,
    Refresh,
    BearerCheck,
}

impl Operation {
    pub(super) const ALL: [Self; 14] = [
        Self::List,
        Self::ListFree,
        Self::ListFiltered,
        Self::Get,
        Self::Circle,
        Self::LargeCircle,
        Self::Word,
        Self::CommonWord,
        Self::ThreeWords,
        Self::Look,
        Self::Merged,
        Self::ChangeAlbum,
        Self::Refresh,
        Self::BearerCheck,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::List => "list 50 images",
            Self::ListFree => "list 50 images, free plan",
            Self::ListFiltered => "list 50 images, five filters",
            Self::Get => "get an image",
            Self::Circle => "search in a circle of 5 km",
            Self::LargeCircle => "search in a circle of 300 km",
            Self::Word => "word search, a word",
            Self::CommonWord => "word search, a common word",
            Self::ThreeWords => "word search, three words",
            Self::Look => "look search",
            Self::Merged => "merged search",
            Self::ChangeAlbum => "add and remove 10 album images",
            Self::Refresh => "refresh a token",
            Self::BearerCheck => "bearer check",
        }
    }
}

/// A store that is measured.
pub(super) struct Subject {
    store: SharedStore,
    library: Library,
    caller: Caller,
    viewer: Viewer,
    ids: Vec<ImageId>,
    album: domain::AlbumId,
    /// The place of the newest photo that has one.
    place: String,
    vocabulary: Vocabulary,
    grants: Vec<String>,
    /// The generation of the current refresh token of each grant.
    generations: Vec<tokio::sync::Mutex<u32>>,
    calls: AtomicU32,
}

/// Figures of one operation.
pub(super) struct Figures {
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Processor time of this process and of the database server per call.
    pub(super) cpu_us: f64,
}

impl Subject {
    pub(super) async fn new(
        name: &'static str,
        store: SharedStore,
        key: &str,
    ) -> Result<Arc<Self>, AnyError> {
        let library = serving::library(store.clone(), &tempfile::tempdir()?.keep())?;
        let caller = library.accounts.caller_by_key(key).await?.ok_or("the key is unknown")?;
        let viewer = Viewer { account: caller.account.id, plan: caller.account.plan, free_window: 1000 };
        let newest = ListQuery { limit: Limit::new(100)?, ..ListQuery::default() };
        let ids: Vec<ImageId> =
            store.page_images(viewer, &newest).await?.into_iter().map(|found| found.image.id).collect();
        let places = store.names(viewer, NameKind::Place, 500).await?;
        let place = places.into_iter().next().ok_or("no photo has a place")?;
        let album =
            domain::AlbumId::parse(format!("measured-{name}-{}", fastrand::u64(..))).ok_or("no id")?;
        let new = NewAlbum {
            id: album.clone(),
            title: AlbumTitle::parse("Measured")?,
            images: Vec::new(),
            created_at: Timestamp::MIN,
        };
        if !matches!(store.create_album(viewer, new).await?, AlbumWrite::Done(_)) {
            return Err("the album was not created".into());
        }
        let mut grants = Vec::new();
        for number in 0..GRANTS {
            grants.push(grant(&store, &caller, number).await?);
        }
        let generations = grants.iter().map(|_| tokio::sync::Mutex::new(0)).collect();
        let vocabulary = Vocabulary::new();
        let calls = AtomicU32::new(0);
        Ok(Arc::new(Self {
            store,
            library,
            caller,
            viewer,
            ids,
            album,
            place,
            vocabulary,
            grants,
            generations,
            calls,
        }))
    }

    /// Measures calls of an operation by clients without pauses, after a tenth of them to warm up.
    pub(super) async fn measure(
        self: &Arc<Self>,
        operation: Operation,
        clients: u32,
        calls: u32,
    ) -> Result<Figures, AnyError> {
        self.run(operation, clients, (calls / 10).max(clients)).await?;
        let before = processor_time();
        let mut took = self.run(operation, clients, calls).await?;
        let used = processor_time().saturating_sub(before);
        took.sort_unstable();
        let percentile = |percent: usize| {
            took.get(took.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Ok(Figures {
            p50_us: percentile(50),
            p99_us: percentile(99),
            cpu_us: used.as_secs_f64() * 1e6 / f64::from(calls),
        })
    }

    async fn run(
        self: &Arc<Self>,
        operation: Operation,
        clients: u32,
        calls: u32,
    ) -> Result<Vec<Duration>, AnyError> {
        let running: Vec<_> = (0..clients)
            .map(|_| {
                let subject = Arc::clone(self);
                tokio::spawn(async move {
                    let mut took = Vec::new();
                    for _ in 0..calls / clients {
                        let number = subject.calls.fetch_add(1, Ordering::Relaxed);
                        let began = Instant::now();
                        subject.call(operation, number).await.map_err(|error| error.to_string())?;
                        took.push(began.elapsed());
                    }
                    Ok::<_, String>(took)
                })
            })
            .collect();
        let mut took = Vec::new();
        for client in running {
            took.extend(client.await??);
        }
        Ok(took)
    }

    async fn call(&self, operation: Operation, number: u32) -> Result<(), AnyError> {
        let (store, viewer) = (&self.store, self.viewer);
        let place = usize::try_from(number)?;
        let rare = self.vocabulary.word(200 + place * 37 % 5000);
        let medium = self.vocabulary.word(20 + place * 13 % 200);
        let common = self.vocabulary.word(place % 10);
        match operation {
            Operation::List => self.list(viewer).await?,
            Operation::ListFree => self.list(Viewer { plan: Plan::Free, ..viewer }).await?,
            Operation::ListFiltered => self.list_filtered().await?,
            Operation::Get => {
                let id = self.ids.get(place % self.ids.len()).ok_or("no image")?;
                if !matches!(store.image(viewer, id).await?, Lookup::Found(_)) {
                    return Err("an image is missing".into());
                }
            }
            Operation::Circle => self.circle(place, 5_000.0).await?,
            Operation::LargeCircle => self.circle(place, 300_000.0).await?,
            Operation::Word => self.words(rare).await?,
            Operation::CommonWord => self.words(common).await?,
            Operation::ThreeWords => self.words(&format!("{common} {medium} {rare}")).await?,
            Operation::Look => {
                let channels = Channels { text: false, image: true };
                self.search(&format!("{medium} {rare}"), Some(channels)).await?;
            }
            Operation::Merged => self.search(&format!("{medium} {rare}"), None).await?,
            Operation::ChangeAlbum => self.change_album(place).await?,
            Operation::Refresh => self.refresh(place).await?,
            Operation::BearerCheck => {
                let grant = self.grants.get(place % self.grants.len()).ok_or("no grant")?;
                store.grant_holder(grant).await?.ok_or("a grant is missing")?;
            }
        }
        Ok(())
    }

    async fn circle(&self, place: usize, radius_m: f64) -> Result<(), AnyError> {
        let (latitude, longitude) = (u32::try_from(461 + place % 38)?, u32::try_from(91 + place * 7 % 58)?);
        let centre = Position::new(f64::from(latitude) / 10.0, f64::from(longitude) / 10.0)?;
        let filter = Filter { circle: Some(Circle::new(centre, radius_m)?), ..Filter::default() };
        self.store.filter_images(self.viewer, &filter, Limit::new(50)?).await?;
        Ok(())
    }

    async fn words(&self, words: &str) -> Result<(), AnyError> {
        let filter = Filter::default();
        let text = QueryText::parse(words)?;
        self.store.match_text(self.viewer, &text, TextColumns::Content, &filter, 50).await?;
        Ok(())
    }

    async fn list(&self, viewer: Viewer) -> Result<(), AnyError> {
        let range = DateRange::new(None, Some(Timestamp::MAX))?;
        let filter = Filter { range, ..Filter::default() };
        let query = ListQuery { limit: Limit::new(50)?, filter, ..ListQuery::default() };
        self.store.page_images(viewer, &query).await?;
        Ok(())
    }

    /// Lists by a camera, a place, a keyword and two marks.
    async fn list_filtered(&self) -> Result<(), AnyError> {
        let filter = Filter {
            favorite: Some(true),
            archived: Some(false),
            keyword: Some(Keyword::parse("beach")?),
            ..Filter::default()
        };
        let names = FilterNames { camera: Some("model 1".to_owned()), place: Some(self.place.clone()) };
        let query = ListQuery { limit: Limit::new(50)?, filter, names };
        self.library.catalogue.list(&self.caller, &query).await?;
        Ok(())
    }

    /// Searches in these channels. Without channels, searches in all of them and in place and file name.
    async fn search(&self, words: &str, channels: Option<Channels>) -> Result<(), AnyError> {
        let query = SearchQuery {
            target: SearchTarget::Words { text: QueryText::parse(words)?, channels },
            album: None,
            filter: Filter::default(),
            names: FilterNames::default(),
            limit: Limit::new(50)?,
        };
        self.library.catalogue.search(&self.caller, &query).await?;
        Ok(())
    }

    async fn change_album(&self, place: usize) -> Result<(), AnyError> {
        let ten = |from: usize| -> Vec<String> {
            self.ids
                .iter()
                .cycle()
                .skip(from % self.ids.len())
                .take(10)
                .map(|id| id.as_str().to_owned())
                .collect()
        };
        let change =
            AlbumChange { add: ten(place * 10), remove: ten(place * 10 + 100), ..AlbumChange::default() };
        match self.store.change_album(self.viewer, &self.album, change, Timestamp::MIN).await? {
            AlbumWrite::Done(_) => Ok(()),
            _ => Err("the album was not changed".into()),
        }
    }

    async fn refresh(&self, place: usize) -> Result<(), AnyError> {
        let place = place % self.grants.len();
        let (grant, generation) = (self.grants.get(place).ok_or("no grant")?, self.generations.get(place));
        let mut generation = generation.ok_or("no generation")?.lock().await;
        let handle = handle_of(grant);
        let found = self.store.grant(GrantKey::RefreshHandle(&handle)).await.map_err(|error| error.0)?;
        found.ok_or("a grant is missing")?;
        let at = UnixMillis(1_700_000_000_000);
        let rotation = Rotation {
            grant_id: grant.clone(),
            presented: token_of(grant, *generation),
            next: CurrentRefreshToken {
                hash: token_of(grant, *generation + 1),
                generation: *generation + 1,
                expires_at: at.plus_ms(YEAR_MS),
                recent_rotations: vec![at],
            },
            access_expires_at: at.plus_ms(YEAR_MS),
            at,
        };
        if !self.store.rotate_refresh_token(rotation).await.map_err(|error| error.0)? {
            return Err("a refresh token was not rotated".into());
        }
        *generation += 1;
        Ok(())
    }
}

fn handle_of(grant: &str) -> SecretHash {
    SecretHash::of(&format!("handle of {grant}"))
}

fn token_of(grant: &str, generation: u32) -> SecretHash {
    SecretHash::of(&format!("token {generation} of {grant}"))
}

/// Adds a grant with a refresh token.
async fn grant(store: &SharedStore, caller: &Caller, number: u32) -> Result<String, AnyError> {
    let id = format!("measured-{number}-{}", fastrand::u64(..));
    let at = UnixMillis(1_700_000_000_000);
    let hash = SecretHash::of(&format!("code of {id}"));
    let grant = Grant {
        id: id.clone(),
        client_id: "measured".to_owned(),
        subject: caller.account.id.0.to_string(),
        resource: "https://photos.example.org/api/mcp/v1".to_owned(),
        scopes: vec!["mcp:images".to_owned()],
        created_at: at,
        revoked_at: None,
    };
    let code = IssuedCode {
        redirect_uri: "https://app.example.org/callback".to_owned(),
        challenge: "x".repeat(43),
        expires_at: at.plus_ms(YEAR_MS),
        redeemed_at: None,
    };
    let issued =
        store.issue_code(NewCode { hash, code, grant, client: None }).await.map_err(|error| error.0)?;
    if issued != CodeStatus::Pending {
        return Err("no code was issued".into());
    }
    let token = CurrentRefreshToken {
        hash: token_of(&id, 0),
        generation: 0,
        expires_at: at.plus_ms(YEAR_MS),
        recent_rotations: Vec::new(),
    };
    let redemption = Redemption {
        code: hash,
        at,
        refresh: Some(NewRefreshToken { handle: handle_of(&id), token }),
        access_expires_at: at.plus_ms(YEAR_MS),
    };
    store.redeem_code(redemption).await.map_err(|error| error.0)?;
    Ok(id)
}
