//! All that the service does with what a worker says, on bytes: for fuzzers.

use domain::Rendition;

use crate::{
    AnalysisTask, RequestedRenditions,
    answer::{self, Plan},
    wire::{self, Answer, Inspected},
};

/// The most pixels of a picture here.
const MAX_PIXELS: u64 = 200_000_000;

/// Hears a whole conversation about one photo of which every rendition was wanted, or a plain picture and the words, and
/// checks it as the service does. It ends at the first thing that cannot be believed.
#[doc(hidden)]
pub fn check_worker_output(mut said: &[u8]) {
    let _outcome = conversation(&mut said);
}

fn conversation(said: &mut &[u8]) -> Option<()> {
    let (upright_size, memory_bytes) = match message(said)? {
        Inspected::Picture { upright_size, memory_bytes } => (upright_size, memory_bytes),
        Inspected::Refused(refusal) => return answer::refused(&refusal).ok().map(drop),
    };
    let plan = Plan::new(upright_size, memory_bytes, MAX_PIXELS).ok()?;
    let (damaged, webp_bytes, metadata) = match message(said)? {
        Answer::Rendered { damaged, webp_bytes, metadata } => (damaged, webp_bytes, metadata),
        Answer::Looked { text } => {
            let look = AnalysisTask { max_side_px: Some(512), read_text: true };
            let _text = answer::text(text, &look).ok()?;
            let (_, length) = plan.plain_picture(&look)?;
            return take(said, usize::try_from(length).ok()?).map(drop);
        }
        Answer::Refused(refusal) => return answer::refused(&refusal).ok().map(drop),
    };
    let _damaged = damaged.as_deref().and_then(answer::reason);
    let _metadata = metadata.map(answer::metadata).transpose().ok()?;
    let wanted = plan.renditions(&RequestedRenditions::Only(Rendition::ALL.to_vec()));
    plan.check_lengths(&wanted, &webp_bytes).ok()?;
    for ((rendition, size), length) in wanted.into_iter().zip(webp_bytes) {
        let webp = take(said, usize::try_from(length).ok()?)?;
        answer::rendition(rendition, size, webp.to_vec()).ok()?;
    }
    Some(())
}

fn message<T: serde::de::DeserializeOwned>(said: &mut &[u8]) -> Option<T> {
    let length = wire::head_length(take(said, 4)?.try_into().ok()?).ok()?;
    wire::decode(take(said, length)?).ok()
}

fn take<'a>(said: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = said.split_at_checked(count)?;
    *said = tail;
    Some(head)
}
