//! The worker process.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    os::fd::AsFd as _,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use domain::{FileInfo, PixelSize, Rendition, Sidecar, clean_text};
use media::{Limits, MediaError, Orientation, Photo, Probe, RgbPicture, RgbPictures, ViewOptions};
use ocr::{NotReady, Ocr};
use serde::{Serialize, de::DeserializeOwned};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{
    DecodeTask, Languages, RefusalKind, RequestedRenditions,
    confinement::confine,
    wire::{
        self, FileRefusal, Hello, Inspection, JobRequest, JobSpec, PROTOCOL, Proceed, Response, SidecarHeader,
    },
};

/// Runs this process as a worker: it sandboxes itself, receives jobs on standard input, responds on standard output, and
/// ends with its input.
///
/// Must be called before the process starts a thread or reads anything. A panic ends the process, which the service
/// notices.
pub fn run_worker() -> ExitCode {
    run(None)
}

/// Runs a worker that also reads text. If OCR is unavailable, the worker reports that and only decodes.
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
    ignore_termination_signals()?;
    let mut service = ServiceConnection::take_over()?;
    media::load_decoders();
    let mut ocr = languages.map_or_else(Ocr::off, Ocr::load);
    // No file can be opened after this.
    let protections = confine();
    service.send_message(&Hello {
        protocol: PROTOCOL,
        decoder_version: media::DECODER_VERSION,
        protections,
        ocr_status: ocr.status().clone(),
    })?;
    while let Some(job) = service.next_request()? {
        match job {
            ReceivedJob::Photo(job) => service.respond(&job, &mut ocr)?,
            ReceivedJob::View(job) => service.view(&job)?,
        }
    }
    Ok(())
}

/// A service manager signals all processes of a service, but the service first completes the running jobs and then stops
/// its workers itself.
fn ignore_termination_signals() -> io::Result<()> {
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ignored))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // The name in process lists.
    rustix::thread::set_name(c"photo-decoder")?;
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Ok(())
}

struct ServiceConnection {
    input: File,
    output: File,
}

enum ReceivedJob {
    Photo(PhotoJob),
    View(ViewJob),
}

struct ViewJob {
    files: Vec<Vec<u8>>,
    options: ViewOptions,
    limits: Limits,
}

struct PhotoJob {
    spec: JobKind,
    limits: Limits,
    file: Vec<u8>,
}

impl PhotoJob {
    /// The orientation in the sidecars. Only jobs that read metadata have sidecars.
    fn orientation(&self) -> Option<Orientation> {
        match &self.spec {
            JobKind::Render(task) => media::sidecar_orientation(&task.read_metadata.as_ref()?.sidecars),
            JobKind::Analyze { .. } => None,
        }
    }
}

enum JobKind {
    Render(DecodeTask),
    Analyze { max_side_px: Option<u32>, read_text: Option<Duration> },
}

impl ServiceConnection {
    /// Takes over the standard streams, and redirects standard output to stderr: the output of libraries must not mix with
    /// messages.
    fn take_over() -> io::Result<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned()?.into();
        let output = io::stdout().as_fd().try_clone_to_owned()?.into();
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Self { input, output })
    }

    fn send_message(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.output.write_all(&wire::encode(message)?)
    }

    /// `None` if the service has closed the pipe.
    fn receive_message<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
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

    fn next_request(&mut self) -> io::Result<Option<ReceivedJob>> {
        let Some(request) = self.receive_message::<JobRequest>()? else { return Ok(None) };
        let limits = Limits { max_pixels: request.max_pixels };
        let spec = match request.spec {
            JobSpec::Render { renditions: names, file_info } => {
                let file_info = file_info.map(|header| self.file_info(header)).transpose()?;
                JobKind::Render(DecodeTask { renditions: renditions(names)?, read_metadata: file_info })
            }
            JobSpec::Analyze { max_side_px, read_text_ms } => {
                JobKind::Analyze { max_side_px, read_text: read_text_ms.map(Duration::from_millis) }
            }
            JobSpec::View { file_bytes, rendition: name, sheet, max_bytes } => {
                let options = ViewOptions { rendition: rendition(&name)?, sheet, max_bytes };
                let files =
                    file_bytes.into_iter().map(|length| self.bytes(length)).collect::<io::Result<_>>()?;
                return Ok(Some(ReceivedJob::View(ViewJob { files, options, limits })));
            }
        };
        Ok(Some(ReceivedJob::Photo(PhotoJob { spec, limits, file: self.bytes(request.file_bytes)? })))
    }

    fn file_info(&mut self, header: wire::FileHeader) -> io::Result<FileInfo> {
        let wire::FileHeader { name, modified_at, added_at, sidecars } = header;
        let mut read = |SidecarHeader { kind, bytes }| Ok(Sidecar { kind, content: self.bytes(bytes)? });
        let sidecars = sidecars.into_iter().map(&mut read).collect::<io::Result<_>>()?;
        Ok(FileInfo { name, modified_at, added_at, sidecars })
    }

    fn respond(&mut self, job: &PhotoJob, ocr: &mut Ocr) -> io::Result<()> {
        let opened = Photo::open(&job.file).and_then(|photo| {
            let photo = photo.turned(job.orientation());
            Ok((photo.probe(&job.limits)?, photo))
        });
        let (probe, photo) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.send_message(&Inspection::Refused(refusal(&error))),
        };
        let size = probe.upright_size;
        let memory_bytes = match &job.spec {
            JobKind::Render(task) => probe.decode_memory_bytes(&task.renditions.for_size(size)),
            JobKind::Analyze { max_side_px, read_text } => {
                let decoding = probe.rgb_memory_bytes(&sides(*max_side_px, *read_text));
                // The decoder's memory is free again when the text is read.
                let reading =
                    read_text.map_or(0, |_| ocr::memory_bytes(size.fit_within(ocr::SIDE_PX).area()));
                decoding.max(reading)
            }
        };
        self.send_message(&Inspection::Picture { upright_size: (size.width, size.height), memory_bytes })?;
        if self.receive_message::<Proceed>()?.is_none() {
            return Ok(());
        }
        match &job.spec {
            JobKind::Render(task) => self.render(&photo, task, size, &job.limits),
            JobKind::Analyze { max_side_px, read_text } => {
                let decoded = photo.decode_rgb(&sides(*max_side_px, *read_text), &job.limits);
                self.analyze(decoded, *read_text, ocr)
            }
        }
    }

    fn view(&mut self, ViewJob { files, options, limits }: &ViewJob) -> io::Result<()> {
        let opened = files.iter().map(|file| {
            let photo = Photo::open(file)?;
            Ok((photo.probe(limits)?, photo))
        });
        let (probes, photos): (Vec<Probe>, Vec<Photo<'_>>) =
            match opened.collect::<Result<Vec<_>, MediaError>>() {
                Ok(opened) => opened.into_iter().unzip(),
                Err(error) => return self.send_message(&Inspection::Refused(refusal(&error))),
            };
        let Some(largest) = probes.iter().map(|probe| probe.upright_size).max_by_key(|size| size.area())
        else {
            return self.send_message(&Inspection::Refused(refusal(&MediaError::Empty)));
        };
        let upright_size = (largest.width, largest.height);
        self.send_message(&Inspection::Picture {
            upright_size,
            memory_bytes: options.memory_bytes(&probes),
        })?;
        if self.receive_message::<Proceed>()?.is_none() {
            return Ok(());
        }
        match media::views(&photos, options, limits) {
            Ok(views) => {
                let jpeg_bytes = views.iter().map(|view| view.len() as u64).collect();
                self.send_message(&Response::Viewed { jpeg_bytes })?;
                views.iter().try_for_each(|view| self.output.write_all(view))
            }
            Err(error) => self.send_message(&Response::Refused(refusal(&error))),
        }
    }

    fn render(
        &mut self,
        photo: &Photo<'_>,
        task: &DecodeTask,
        size: PixelSize,
        limits: &Limits,
    ) -> io::Result<()> {
        match photo.render(&task.renditions.for_size(size), limits) {
            Ok(rendered) => {
                let webp_bytes =
                    rendered.renditions.iter().map(|rendition| rendition.webp.len() as u64).collect();
                let metadata = task.read_metadata.as_ref().map(|info| Box::new(photo.metadata(info)));
                let damaged = rendered.damaged.as_deref().and_then(crate::response::reason);
                let thumbhash = rendered.thumbhash.as_ref().map(|preview| preview.as_bytes().to_vec());
                self.send_message(&Response::Rendered { damaged, webp_bytes, metadata, thumbhash })?;
                rendered.renditions.iter().try_for_each(|rendition| self.output.write_all(&rendition.webp))
            }
            Err(error) => self.send_message(&Response::Refused(refusal(&error))),
        }
    }

    fn analyze(
        &mut self,
        decoded: Result<RgbPictures, MediaError>,
        read_text: Option<Duration>,
        ocr: &mut Ocr,
    ) -> io::Result<()> {
        let RgbPictures { mut pictures, .. } = match decoded {
            Ok(decoded) => decoded,
            Err(error) => return self.send_message(&Response::Refused(refusal(&error))),
        };
        // The last picture is the one for OCR, if text is requested.
        let picture = if read_text.is_some() { pictures.pop() } else { None };
        let text = match read_text.zip(picture) {
            Some((time_limit, RgbPicture { size, rgb })) => {
                match ocr.read((size.width, size.height), &rgb, time_limit) {
                    Ok(text) => clean_text(&text),
                    Err(NotReady) => {
                        let reason = "this decoder was started without OCR".to_owned();
                        let kind = RefusalKind::NoDecoder;
                        return self.send_message(&Response::Refused(FileRefusal { kind, reason }));
                    }
                }
            }
            None => None,
        };
        self.send_message(&Response::Analyzed { text })?;
        pictures.iter().try_for_each(|picture| self.output.write_all(&picture.rgb))
    }
}

/// The longest sides of the pictures to decode: the one to return, and the one for OCR.
fn sides(max_side_px: Option<u32>, read_text: Option<Duration>) -> Vec<u32> {
    max_side_px.into_iter().chain(read_text.map(|_| ocr::SIDE_PX)).collect()
}

fn renditions(names: Option<Vec<String>>) -> io::Result<RequestedRenditions> {
    let Some(names) = names else { return Ok(RequestedRenditions::Displayable) };
    names.iter().map(|name| rendition(name)).collect::<io::Result<_>>().map(RequestedRenditions::Only)
}

fn rendition(name: &str) -> io::Result<Rendition> {
    Rendition::from_name(name).ok_or_else(|| wire::invalid("a rendition is unknown"))
}

fn refusal(error: &MediaError) -> FileRefusal {
    let text = error.to_string();
    FileRefusal { kind: error.into(), reason: crate::response::reason(&text).unwrap_or(text) }
}
