use dav_protocol::XmlWriter;
use domain::Timestamp;
use library::FileLock;

use super::{href, table::Resource};

/// `supportedlock`: exclusive write locks.
pub(super) const SUPPORTED: &str = "<d:lockentry><d:lockscope><d:exclusive/></d:lockscope>\
    <d:locktype><d:write/></d:locktype></d:lockentry>";

/// The content of `lockdiscovery`.
pub(super) fn discovery(resource: &Resource<'_>) -> String {
    let mut xml = XmlWriter::default();
    let context = resource.context;
    for lock in context.locks.iter().filter(|lock| lock.applies_to(resource.path)) {
        write_active_lock(&mut xml, lock, &context.root, context.now);
    }
    xml.take()
}

/// Writes a lock (RFC 4918 §14.1). `root` is the encoded path of the root that the request used.
pub(in crate::webdav) fn write_active_lock(xml: &mut XmlWriter, lock: &FileLock, root: &str, now: Timestamp) {
    let remaining_ms = u64::try_from(lock.expires_at.millis() - now.millis()).unwrap_or(0);
    let seconds = remaining_ms.div_ceil(1000);
    xml.raw("<d:activelock><d:locktype><d:write/></d:locktype><d:lockscope><d:exclusive/></d:lockscope>");
    xml.element("d:depth", if lock.is_deep { "infinity" } else { "0" });
    if let Some(owner) = &lock.owner {
        xml.open("d:owner");
        // The owner is valid XML, because it was written anew from the parsed request.
        xml.raw(owner);
        xml.close("d:owner");
    }
    xml.element("d:timeout", &format!("Second-{seconds}"));
    xml.open("d:locktoken");
    xml.element("d:href", &lock.token);
    xml.close("d:locktoken");
    xml.open("d:lockroot");
    xml.element("d:href", &href(root, &lock.root));
    xml.close("d:lockroot");
    xml.raw("</d:activelock>");
}
