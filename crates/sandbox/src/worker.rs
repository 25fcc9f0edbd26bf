//! A worker's own program.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::fd::AsFd as _,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use domain::{FileInfo, Rendition, Sidecar};
use media::{Limits, MediaError, RgbPictures};
use serde::{Serialize, de::DeserializeOwned};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{
    DecodeTask, Languages, RefusalKind, RequestedRenditions,
    confinement::confine,
    reading::{self, NotReading, Words},
    wire::{self, Answer, Go, Hello, Inspected, Order, PROTOCOL, Refusal, Request, SidecarHeader},
};

/// Makes this process a worker: it closes itself off, decodes what comes in at its standard input, answers at its
/// standard output, and ends when its input does.
///
/// To be called before the process starts a thread or reads anything. A panic ends the process; the service finds
/// out.
pub fn run_worker() -> ExitCode {
    run(None)
}

/// The same for a process that also reads words. Where that does not work, it says so and decodes.
pub fn run_ocr_worker(languages: &Languages) -> ExitCode {
    run(Some(languages))
}

fn run(languages: Option<&Languages>) -> ExitCode {
    match serve(languages) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(languages: Option<&Languages>) -> io::Result<()> {
    die_with_parent()?;
    ignore_requests_to_end()?;
    let mut service = Service::take_over()?;
    media::load_decoders();
    let mut words = languages.map_or(Words::Off, Words::load);
    // After the next line no file can be opened.
    let protections = confine();
    service.say(&Hello {
        protocol: PROTOCOL,
        decoder_version: media::DECODER_VERSION,
        protections,
        text_reading: words.told(),
    })?;
    while let Some(job) = service.next_request()? {
        service.answer(&job, &mut words)?;
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

/// A photo, and what is done with it.
struct Job {
    order: Ordered,
    limits: Limits,
    file: Vec<u8>,
}

enum Ordered {
    Render(DecodeTask),
    Look { max_side_px: Option<u32>, read_text: Option<Duration> },
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
        let limits = Limits { max_pixels: request.max_pixels };
        let order = match request.order {
            Order::Render { wanted: names, file_info } => {
                let file_info = file_info.map(|header| self.file_info(header)).transpose()?;
                Ordered::Render(DecodeTask { renditions: wanted(names)?, read_metadata: file_info })
            }
            Order::Look { max_side_px, read_text_ms } => {
                Ordered::Look { max_side_px, read_text: read_text_ms.map(Duration::from_millis) }
            }
        };
        Ok(Some(Job { order, limits, file: self.bytes(request.file_bytes)? }))
    }

    fn file_info(&mut self, header: wire::FileHeader) -> io::Result<FileInfo> {
        let wire::FileHeader { name, modified_at, added_at, sidecars } = header;
        let mut read = |SidecarHeader { kind, bytes }| Ok(Sidecar { kind, content: self.bytes(bytes)? });
        let sidecars = sidecars.into_iter().map(&mut read).collect::<io::Result<_>>()?;
        Ok(FileInfo { name, modified_at, added_at, sidecars })
    }

    fn answer(&mut self, job: &Job, words: &mut Words) -> io::Result<()> {
        let probe = match media::probe(&job.file, &job.limits) {
            Ok(probe) => probe,
            Err(error) => return self.say(&Inspected::Refused(refusal(&error))),
        };
        let size = probe.upright_size;
        let memory_bytes = match &job.order {
            Ordered::Render(task) => probe.decode_memory_bytes(&task.renditions.renditions(size)),
            Ordered::Look { max_side_px, read_text } => {
                let reading = if read_text.is_some() { reading::MEMORY_BYTES } else { 0 };
                probe.rgb_memory_bytes(&sides(*max_side_px, *read_text)).saturating_add(reading)
            }
        };
        self.say(&Inspected::Picture { upright_size: (size.width, size.height), memory_bytes })?;
        if self.hear::<Go>()?.is_none() {
            return Ok(());
        }
        match &job.order {
            Ordered::Render(task) => self.render(job, task, &task.renditions.renditions(size)),
            Ordered::Look { max_side_px, read_text } => self.look(job, *max_side_px, *read_text, words),
        }
    }

    fn render(&mut self, job: &Job, task: &DecodeTask, wanted: &[Rendition]) -> io::Result<()> {
        match media::render(&job.file, wanted, &job.limits) {
            Ok(rendered) => {
                let webp_bytes = rendered.renditions.iter().map(|made| made.webp.len() as u64).collect();
                let metadata = task.read_metadata.as_ref().map(|info| media::metadata(&job.file, info));
                let damaged = rendered.damaged.as_deref().and_then(crate::answer::reason);
                self.say(&Answer::Rendered { damaged, webp_bytes, metadata })?;
                rendered.renditions.iter().try_for_each(|made| self.output.write_all(&made.webp))
            }
            Err(error) => self.say(&Answer::Refused(refusal(&error))),
        }
    }

    fn look(
        &mut self,
        job: &Job,
        max_side_px: Option<u32>,
        read_text: Option<Duration>,
        words: &mut Words,
    ) -> io::Result<()> {
        let made = media::decode_rgb(&job.file, &sides(max_side_px, read_text), &job.limits);
        let RgbPictures { mut pictures, .. } = match made {
            Ok(made) => made,
            Err(error) => return self.say(&Answer::Refused(refusal(&error))),
        };
        // The last one is the one to read, if there is one to read.
        let read = read_text.and_then(|time| pictures.pop().map(|picture| words.read(&picture, time)));
        let text = match read.transpose() {
            Ok(text) => text.flatten(),
            Err(NotReading) => {
                let reason = "this decoder was not started to read words".to_owned();
                return self.say(&Answer::Refused(Refusal { kind: RefusalKind::NoDecoder, reason }));
            }
        };
        self.say(&Answer::Looked { text })?;
        pictures.iter().try_for_each(|picture| self.output.write_all(&picture.rgb))
    }
}

/// The longest sides of the plain pictures that are made: the one that is given, and the one whose words are read.
fn sides(max_side_px: Option<u32>, read_text: Option<Duration>) -> Vec<u32> {
    max_side_px.into_iter().chain(read_text.map(|_| reading::SIDE_PX)).collect()
}

fn wanted(names: Option<Vec<String>>) -> io::Result<RequestedRenditions> {
    let Some(names) = names else { return Ok(RequestedRenditions::Displayable) };
    let renditions: Option<_> = names.iter().map(|name| Rendition::from_name(name)).collect();
    renditions.map(RequestedRenditions::Only).ok_or_else(|| wire::invalid("a rendition is unknown"))
}

fn refusal(error: &MediaError) -> Refusal {
    let text = error.to_string();
    Refusal { kind: error.into(), reason: crate::answer::reason(&text).unwrap_or(text) }
}
