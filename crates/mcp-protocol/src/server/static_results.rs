//! Results that are the same for every caller, serialised once.

use serde::Serialize;

use crate::lifecycle::{DiscoverResult, Implementation, ServerCapabilities};
use crate::prompts::ListPromptsResult;
use crate::resources::{ListResourceTemplatesResult, ListResourcesResult};
use crate::server::revision;
use crate::{Caching, ListToolsResult, Meta, ProtocolVersion, ResultType};

/// A result as JSON, in each era.
pub(super) struct StaticResult {
    legacy: Vec<u8>,
    modern: Vec<u8>,
}

/// The lists and the server's description.
pub(super) struct StaticResults {
    pub(super) discover: Vec<u8>,
    pub(super) tools: StaticResult,
    pub(super) prompts: StaticResult,
    pub(super) resources: StaticResult,
    pub(super) templates: StaticResult,
}

/// A result with caching members.
trait CacheableResult: Serialize + Clone {
    fn add_members(&mut self, caching: Caching, meta: Meta);
}

/// Implements `CacheableResult` for results that have the same caching members.
macro_rules! cacheable_results {
    ($($list:ty),*) => {$(
        impl CacheableResult for $list {
            fn add_members(&mut self, caching: Caching, meta: Meta) {
                self.result_type = Some(ResultType::Complete);
                self.ttl_ms = Some(caching.ttl_ms);
                self.cache_scope = Some(caching.scope);
                self.meta = Some(meta);
            }
        }
    )*};
}

cacheable_results!(
    ListToolsResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    DiscoverResult
);

impl StaticResult {
    fn new(list: &impl CacheableResult, caching: Caching, meta: &Meta) -> serde_json::Result<Self> {
        let mut modern = list.clone();
        modern.add_members(caching, meta.clone());
        Ok(Self { legacy: serde_json::to_vec(list)?, modern: serde_json::to_vec(&modern)? })
    }

    pub(super) fn at(&self, version: ProtocolVersion) -> &[u8] {
        if version.is_legacy() { &self.legacy } else { &self.modern }
    }
}

/// The data of the static results.
pub(super) struct Lists<'a> {
    pub(super) capabilities: &'a ServerCapabilities,
    pub(super) instructions: Option<&'a str>,
    pub(super) tools: &'a ListToolsResult,
    pub(super) prompts: &'a ListPromptsResult,
    pub(super) resources: &'a ListResourcesResult,
    pub(super) templates: &'a ListResourceTemplatesResult,
    pub(super) caching: Caching,
    pub(super) result_meta: &'a Meta,
}

impl StaticResults {
    pub(super) fn new(lists: &Lists<'_>) -> serde_json::Result<Self> {
        let Lists { caching, result_meta, .. } = *lists;
        let mut discover = DiscoverResult::new(&revision::MODERN, lists.capabilities.clone());
        discover.instructions = lists.instructions.map(str::to_owned);
        discover.add_members(caching, result_meta.clone());
        Ok(Self {
            discover: serde_json::to_vec(&discover)?,
            tools: StaticResult::new(lists.tools, caching, result_meta)?,
            prompts: StaticResult::new(lists.prompts, caching, result_meta)?,
            resources: StaticResult::new(lists.resources, caching, result_meta)?,
            templates: StaticResult::new(lists.templates, caching, result_meta)?,
        })
    }
}

/// The `_meta` of every result of the modern era.
pub(super) fn result_meta(info: &Implementation) -> serde_json::Result<Meta> {
    Ok(Meta::from_iter([(crate::request_meta::SERVER_INFO.to_owned(), serde_json::to_value(info)?)]))
}
