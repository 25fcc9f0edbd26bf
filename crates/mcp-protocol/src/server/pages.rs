//! Lists and descriptions, which are the same for everybody, written once.

use serde::Serialize;

use crate::lifecycle::{DiscoverResult, Implementation, ServerCapabilities};
use crate::resources::{ListResourceTemplatesResult, ListResourcesResult};
use crate::server::revision;
use crate::{Caching, ListToolsResult, Meta, ProtocolVersion, ResultType};

/// A result in each era, as JSON.
pub(super) struct Page {
    legacy: Vec<u8>,
    modern: Vec<u8>,
}

/// What is served unchanged until the server is built anew.
pub(super) struct Pages {
    pub(super) discover: Vec<u8>,
    pub(super) tools: Page,
    pub(super) resources: Page,
    pub(super) templates: Page,
}

/// A list, or the description of the server, that says for how long it may be kept.
trait Listed: Serialize + Clone {
    fn describe(&mut self, caching: Caching, meta: Meta);
}

/// All have the same members under the same names.
macro_rules! listed {
    ($($list:ty),*) => {$(
        impl Listed for $list {
            fn describe(&mut self, caching: Caching, meta: Meta) {
                self.result_type = Some(ResultType::Complete);
                self.ttl_ms = Some(caching.ttl_ms);
                self.cache_scope = Some(caching.scope);
                self.meta = Some(meta);
            }
        }
    )*};
}

listed!(ListToolsResult, ListResourcesResult, ListResourceTemplatesResult, DiscoverResult);

impl Page {
    fn new(list: &impl Listed, caching: Caching, meta: &Meta) -> serde_json::Result<Self> {
        let mut described = list.clone();
        described.describe(caching, meta.clone());
        Ok(Self { legacy: serde_json::to_vec(list)?, modern: serde_json::to_vec(&described)? })
    }

    pub(super) fn at(&self, version: ProtocolVersion) -> &[u8] {
        if version.is_legacy() { &self.legacy } else { &self.modern }
    }
}

/// What pages are made of.
pub(super) struct Contents<'a> {
    pub(super) capabilities: &'a ServerCapabilities,
    pub(super) instructions: Option<&'a str>,
    pub(super) tools: &'a ListToolsResult,
    pub(super) resources: &'a ListResourcesResult,
    pub(super) templates: &'a ListResourceTemplatesResult,
    pub(super) caching: Caching,
    pub(super) result_meta: &'a Meta,
}

impl Pages {
    pub(super) fn new(contents: &Contents<'_>) -> serde_json::Result<Self> {
        let Contents { caching, result_meta, .. } = *contents;
        let mut discover = DiscoverResult::new(&revision::MODERN, contents.capabilities.clone());
        discover.instructions = contents.instructions.map(str::to_owned);
        discover.describe(caching, result_meta.clone());
        Ok(Self {
            discover: serde_json::to_vec(&discover)?,
            tools: Page::new(contents.tools, caching, result_meta)?,
            resources: Page::new(contents.resources, caching, result_meta)?,
            templates: Page::new(contents.templates, caching, result_meta)?,
        })
    }
}

/// The `_meta` of every result of the modern era.
pub(super) fn result_meta(info: &Implementation) -> serde_json::Result<Meta> {
    Ok(Meta::from_iter([(crate::request_meta::SERVER_INFO.to_owned(), serde_json::to_value(info)?)]))
}
