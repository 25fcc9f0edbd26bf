//! Removes item references that old releases of libheif do not accept.
//!
//! Releases before 1.18 refuse a file in which a thumbnail, an auxiliary picture or metadata refer to several items, or to an item
//! of a type that these releases do not know as a picture. Phones write such references for tone-mapped pictures (`tmap`).

use super::is_alpha_item;
use super::meta::Meta;
use crate::container::boxes::{Boxes, FourCc};

/// The file with only the references that its primary picture needs: the parts of derived pictures, and the alpha of the primary
/// picture. The length of the file stays the same, because the file contains the positions of its data. `None` if there is no
/// `meta` box in which that is possible.
pub(crate) fn with_needed_references(file: &[u8]) -> Option<Vec<u8>> {
    let mut changed = None;
    let mut boxes = Boxes::new(file);
    let mut copy = Vec::with_capacity(file.len());
    for found in boxes.by_ref() {
        let is_whole_meta = found.kind == *b"meta" && !found.cut;
        match is_whole_meta.then(|| rewrite_meta(file, found.body)).flatten() {
            Some(body) => {
                copy.extend_from_slice(found.header());
                copy.extend(body);
                changed = Some(());
            }
            None => copy.extend_from_slice(found.whole),
        }
    }
    copy.extend_from_slice(boxes.rest());
    changed.map(|()| copy)
}

/// The content of a `meta` box with fewer references and the same length. The saved bytes are appended to `hdlr`, which
/// ends with a name that is terminated by NUL.
fn rewrite_meta(file: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let meta = Meta::read(file, body);
    let primary = meta.primary?;
    let children = Meta::children(body);
    let (mut handler, mut before, mut after) = (None, Vec::new(), Vec::new());
    for found in Boxes::new(children) {
        match &found.kind {
            b"hdlr" if handler.is_none() => handler = Some(found.body),
            b"iref" => {}
            b"pitm" => {
                let is_long = primary > u32::from(u16::MAX);
                let version = [u8::from(is_long), 0, 0, 0];
                after.extend(new_box(*b"pitm", &[&version[..], &item_id(primary, is_long)].concat())?);
            }
            _ if handler.is_none() => before.extend_from_slice(found.whole),
            _ => after.extend_from_slice(found.whole),
        }
    }
    after.extend(needed_references(&meta, primary)?);

    let head = body.get(..body.len().checked_sub(children.len())?)?;
    let empty_handler = new_box(*b"hdlr", handler?)?;
    let length = head.len() + before.len() + empty_handler.len() + after.len();
    let padding = vec![0; body.len().checked_sub(length)?];
    let handler = new_box(*b"hdlr", &[handler?, &padding].concat())?;
    Some([head, &before, &handler, &after].concat())
}

/// The `iref` box with the needed references.
fn needed_references(meta: &Meta<'_>, primary: u32) -> Option<Vec<u8>> {
    let parts = meta.references_of(b"dimg").map(|(from, to)| (*b"dimg", from, to));
    let alpha = meta.referring(b"auxl", primary).filter(|id| is_alpha_item(meta, *id));
    let to_primary = [primary];
    let alpha = alpha.map(|from| (*b"auxl", from, &to_primary[..]));
    let premultiplied = Some((*b"prem", primary, meta.references(b"prem", primary)));
    let premultiplied = premultiplied.filter(|(_, _, to)| !to.is_empty());
    let needed: Vec<(FourCc, u32, &[u32])> = parts.chain(alpha).chain(premultiplied).collect();

    let ids = needed.iter().flat_map(|(_, from, to)| to.iter().chain([from]));
    let is_long = ids.max().is_some_and(|id| *id > u32::from(u16::MAX));
    let mut body = vec![u8::from(is_long), 0, 0, 0];
    for (kind, from, to) in needed {
        let count = u16::try_from(to.len()).ok()?.to_be_bytes();
        let to = to.iter().flat_map(|id| item_id(*id, is_long));
        let reference = item_id(from, is_long).into_iter().chain(count).chain(to);
        body.extend(new_box(kind, &reference.collect::<Vec<_>>())?);
    }
    new_box(*b"iref", &body)
}

fn new_box(kind: FourCc, body: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(body.len().checked_add(8)?).ok()?;
    Some([&length.to_be_bytes()[..], &kind, body].concat())
}

/// An item id with 4 or 2 bytes.
fn item_id(id: u32, is_long: bool) -> Vec<u8> {
    let [high @ .., b1, b0] = id.to_be_bytes();
    if is_long { [&high[..], &[b1, b0]].concat() } else { vec![b1, b0] }
}
