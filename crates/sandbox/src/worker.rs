//! A worker's own program.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::fd::AsFd as _,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
};

use bytes::Bytes;
use domain::{Rendition, SidecarKind, Timestamp};
use media::{FileFacts, Limits, MediaError};
use serde::{Serialize, de::DeserializeOwned};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{
    OwnedFileFacts, Task, Wanted,
    confinement::confine,
    wire::{self, Answer, Go, Hello, Inspected, PROTOCOL, Refusal, Request},
};

/// Makes this process a worker: it closes itself off, decodes what comes in at its standard input, answers at its
/// standard output, and ends when its input does.
///
/// To be called before the process starts a thread or reads anything. A panic ends the process; the service finds
/// out.
pub fn run_worker() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    die_with_parent()?;
    ignore_requests_to_end()?;
    let mut service = Service::take_over()?;
    // After the next line no file can be opened.
    media::load_decoders();
    let protections = confine();
    service.say(&Hello { protocol: PROTOCOL, decoder_version: media::DECODER_VERSION, protections })?;
    while let Some(request) = service.next_request()? {
        service.answer(&request)?;
    }
    Ok(())
}

/// A service manager asks all processes of a service to end, but the service finishes the photos at work first and ends
/// its workers itself.
fn ignore_requests_to_end() -> io::Result<()> {
    let unheard = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&unheard))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // How it shows in lists of processes.
    rustix::thread::set_name(c"photo-decoder")?;
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Ok(())
}

/// The service at the other end of the pipes.
struct Service {
    input: File,
    output: File,
}

/// A photo to decode.
struct Job {
    task: Task,
    limits: Limits,
    file: Vec<u8>,
}

impl Service {
    /// Takes the standard streams for itself: what a library prints must not get between the messages.
    fn take_over() -> io::Result<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned()?.into();
        let output = io::stdout().as_fd().try_clone_to_owned()?.into();
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Self { input, output })
    }

    fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.output.write_all(&wire::encode(message)?)
    }

    /// `None`: the service is gone.
    fn hear<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut length = [0; 4];
        match self.input.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let mut json = vec![0; wire::head_length(length)?];
        self.input.read_exact(&mut json)?;
        wire::decode(&json).map(Some)
    }

    fn bytes(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn next_request(&mut self) -> io::Result<Option<Job>> {
        let Some(request) = self.hear::<Request>()? else { return Ok(None) };
        let facts = request.facts.map(|facts| self.facts(facts)).transpose()?;
        let limits = Limits { max_pixels: request.max_pixels };
        let task = Task { wanted: wanted(request.wanted)?, read_metadata: facts };
        Ok(Some(Job { task, limits, file: self.bytes(request.file_bytes)? }))
    }

    fn facts(&mut self, facts: wire::Facts) -> io::Result<OwnedFileFacts> {
        let time =
            |millis| Timestamp::from_millis(millis).ok_or_else(|| wire::invalid("a time is out of range"));
        let mut sidecars = Vec::new();
        for sidecar in facts.sidecars {
            let kind = SidecarKind::from_name(&sidecar.kind);
            let kind = kind.ok_or_else(|| wire::invalid("a sidecar's kind is unknown"))?;
            sidecars.push((kind, Bytes::from(self.bytes(sidecar.bytes)?)));
        }
        Ok(OwnedFileFacts {
            file_name: facts.file_name,
            modified: facts.modified_ms.map(time).transpose()?,
            added: time(facts.added_ms)?,
            sidecars,
        })
    }

    fn answer(&mut self, job: &Job) -> io::Result<()> {
        let wanted = match media::probe(&job.file, &job.limits) {
            Ok(probe) => {
                let size = probe.upright_size;
                let wanted = job.task.wanted.renditions(size);
                let memory_bytes = probe.decode_memory_bytes(&wanted);
                self.say(&Inspected::Picture { upright_size: (size.width, size.height), memory_bytes })?;
                wanted
            }
            Err(error) => return self.say(&Inspected::Refused(refusal(&error))),
        };
        if self.hear::<Go>()?.is_none() {
            return Ok(());
        }
        match media::render(&job.file, &wanted, &job.limits) {
            Ok(rendered) => {
                let webp_bytes = rendered.renditions.iter().map(|made| made.webp.len() as u64).collect();
                let metadata = job.task.read_metadata.as_ref().map(|facts| metadata(&job.file, facts));
                let damaged = rendered.damaged.as_deref().and_then(crate::answer::reason);
                self.say(&Answer::Rendered { damaged, webp_bytes, metadata })?;
                rendered.renditions.iter().try_for_each(|made| self.output.write_all(&made.webp))
            }
            Err(error) => self.say(&Answer::Refused(refusal(&error))),
        }
    }
}

fn wanted(names: Option<Vec<String>>) -> io::Result<Wanted> {
    let Some(names) = names else { return Ok(Wanted::Displayable) };
    let renditions: Option<_> = names.iter().map(|name| Rendition::from_name(name)).collect();
    renditions.map(Wanted::These).ok_or_else(|| wire::invalid("a rendition is unknown"))
}

fn refusal(error: &MediaError) -> Refusal {
    let text = error.to_string();
    Refusal { kind: error.into(), reason: crate::answer::reason(&text).unwrap_or(text) }
}

fn metadata(file: &[u8], facts: &OwnedFileFacts) -> wire::Metadata {
    let sidecars: Vec<_> =
        facts.sidecars.iter().map(|(kind, content)| media::Sidecar { kind: *kind, content }).collect();
    let file_name = facts.file_name.as_deref();
    let facts = FileFacts { file_name, modified: facts.modified, added: facts.added, sidecars: &sidecars };
    let found = media::metadata(file, &facts);
    wire::Metadata {
        captured_ms: found.capture.at.millis(),
        wall: found.capture.wall.map(|wall| wall.to_string()),
        offset_minutes: found.capture.offset_minutes,
        source: found.capture.source.as_str().to_owned(),
        position: found
            .position
            .map(|position| (position.latitude().to_bits(), position.longitude().to_bits())),
        description: found.description,
        camera_make: found.camera_make,
        camera_model: found.camera_model,
    }
}
