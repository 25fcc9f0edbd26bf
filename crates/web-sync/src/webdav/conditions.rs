//! Conditional requests: `If-Match`, `If-None-Match` and `If`.

use std::collections::HashMap;

use dav_protocol::headers::{EntityTags, IfHeader, IfState, destination_path};
use domain::FilePath;
use library::{FileCondition, FileEntry, FileLock};

use super::{
    DavError, DavRequest,
    places::{Place, place},
    properties::entity_tag,
};

const CHANGED: DavError = DavError::Precondition("the file has changed, or the lock has expired");

/// The conditions of a request. All of them are met.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    /// All lock tokens that were sent.
    pub(super) lock_tokens: Vec<String>,
    /// What must still be at each path when the change is made, so that a concurrent change is noticed.
    states: HashMap<FilePath, FileCondition>,
}

impl Conditions {
    /// What must be at a path when the change is made.
    pub(super) fn on(&self, path: &FilePath) -> FileCondition {
        self.states.get(path).cloned().unwrap_or_default()
    }
}

/// The present state of a resource.
struct State {
    entry: Option<FileEntry>,
    locks: Vec<FileLock>,
}

impl State {
    fn tag(&self) -> Option<String> {
        self.entry.as_ref().map(entity_tag)
    }

    fn is(&self, state: &IfState) -> bool {
        match state {
            IfState::Token(token) => self.locks.iter().any(|lock| lock.token == *token),
            IfState::Tag(tag) => self.tag().is_some_and(|current| tag.is_strong_match(&current)),
        }
    }

    fn condition(&self) -> FileCondition {
        match &self.entry {
            None => FileCondition::Absent,
            Some(entry) => FileCondition::Version(vec![(entry.id, entry.version)]),
        }
    }
}

pub(super) async fn check(request: &DavRequest<'_>, path: &FilePath) -> Result<Conditions, DavError> {
    let mut conditions = Conditions::default();
    if let Some(value) = request.header("if")? {
        let header = IfHeader::parse(value)?;
        check_if(request, path, &header, &mut conditions).await?;
    }
    let (match_tags, none_match) = (request.header("if-match")?, request.header("if-none-match")?);
    if match_tags.is_some() || none_match.is_some() {
        let state = state(request, path).await?;
        let tag = state.tag();
        let is_met = match_tags.is_none_or(|value| EntityTags::parse(value).is_match(tag.as_deref()))
            && none_match.is_none_or(|value| EntityTags::parse(value).is_none_match(tag.as_deref()));
        if !is_met {
            return Err(CHANGED);
        }
        conditions.states.insert(path.clone(), state.condition());
    }
    Ok(conditions)
}

async fn check_if(
    request: &DavRequest<'_>,
    path: &FilePath,
    header: &IfHeader,
    conditions: &mut Conditions,
) -> Result<(), DavError> {
    conditions.lock_tokens = header.tokens().map(str::to_owned).collect();
    let mut states: HashMap<FilePath, State> = HashMap::new();
    let mut paths: HashMap<Option<&str>, FilePath> = HashMap::new();
    for list in &header.lists {
        let resource = list.resource.as_deref();
        // A resource that is not one of the caller's files has no state.
        let Some(path) = resource.map_or(Some(path.clone()), |url| file_path(request, url)) else { continue };
        if !states.contains_key(&path) {
            states.insert(path.clone(), state(request, &path).await?);
        }
        let has_tag = list.conditions.iter().any(|condition| matches!(condition.state, IfState::Tag(_)));
        if let Some(state) = states.get(&path).filter(|_| has_tag) {
            conditions.states.insert(path.clone(), state.condition());
        }
        paths.insert(resource, path);
    }
    let is_met = header.is_met(|resource, state| {
        let known = paths.get(&resource).and_then(|path| states.get(path));
        known.is_some_and(|known| known.is(state))
    });
    if is_met { Ok(()) } else { Err(CHANGED) }
}

fn file_path(request: &DavRequest<'_>, url: &str) -> Option<FilePath> {
    match place(destination_path(url).ok()?, &request.caller).ok()? {
        Place::File(file) => Some(file.path),
        Place::Upload(_) | Place::Collection(_) => None,
    }
}

async fn state(request: &DavRequest<'_>, path: &FilePath) -> Result<State, DavError> {
    let (library, caller) = (request.library(), &request.caller);
    let entry = library.ingest.file(caller, path).await?;
    Ok(State { entry, locks: library.ingest.file_locks(caller, path).await? })
}
