//! Validates bytes as the output of a worker, for the fuzzer.

use domain::Rendition;
use media::ViewOptions;

use crate::{
    AnalysisTask, RequestedRenditions,
    response::{self, DecodePlan},
    view::ViewTask,
    wire::{self, Inspection, Response},
};

const MAX_PIXELS: u64 = 200_000_000;

/// Parses and validates `output` as everything that a worker writes about one photo, either for all renditions, for an RGB
/// picture and text, or for views. Stops at the first invalid message.
#[doc(hidden)]
pub fn check_worker_output(mut output: &[u8]) {
    let _outcome = check(&mut output);
}

fn check(output: &mut &[u8]) -> Option<()> {
    let (upright_size, memory_bytes) = match message(output)? {
        Inspection::Picture { upright_size, memory_bytes } => (upright_size, memory_bytes),
        Inspection::Refused(refusal) => return response::refused(&refusal).ok().map(drop),
    };
    let plan = DecodePlan::new(upright_size, memory_bytes, MAX_PIXELS).ok()?;
    let (damaged, webp_bytes, metadata, thumbhash) = match message(output)? {
        Response::Rendered { damaged, webp_bytes, metadata, thumbhash } => {
            (damaged, webp_bytes, metadata, thumbhash)
        }
        Response::Analyzed { text } => {
            let task = AnalysisTask { max_side_px: Some(512), read_text: true };
            let _text = response::text(text, &task).ok()?;
            let (_, length) = plan.rgb_picture(&task)?;
            return take(output, usize::try_from(length).ok()?).map(drop);
        }
        Response::Viewed { jpeg_bytes } => {
            let options = ViewOptions { rendition: Rendition::Medium, sheet: false, max_bytes: 1 << 20 };
            let task = ViewTask { options, file_bytes: vec![0; jpeg_bytes.len()] };
            task.check_lengths(&jpeg_bytes).ok()?;
            for length in jpeg_bytes {
                task.check_view(take(output, usize::try_from(length).ok()?)?).ok()?;
            }
            return Some(());
        }
        Response::Refused(refusal) => return response::refused(&refusal).ok().map(drop),
    };
    let _damaged = damaged.as_deref().and_then(response::reason);
    let _metadata = metadata.map(|metadata| response::metadata(*metadata)).transpose().ok()?;
    let _thumbhash = response::thumbhash(thumbhash).ok()?;
    let requested = plan.renditions(&RequestedRenditions::Only(Rendition::ALL.to_vec()));
    plan.check_lengths(&requested, &webp_bytes).ok()?;
    for ((rendition, size), length) in requested.into_iter().zip(webp_bytes) {
        let webp = take(output, usize::try_from(length).ok()?)?;
        response::rendition(rendition, size, webp.to_vec()).ok()?;
    }
    Some(())
}

fn message<T: serde::de::DeserializeOwned>(output: &mut &[u8]) -> Option<T> {
    let length = wire::head_length(take(output, 4)?.try_into().ok()?).ok()?;
    wire::decode(take(output, length)?).ok()
}

fn take<'a>(output: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (head, tail) = output.split_at_checked(count)?;
    *output = tail;
    Some(head)
}
