//! Measures the model in a folder: `measure_model FOLDER [LIBRARY]`, with the library of ONNX Runtime, else with tract.
#![expect(clippy::unwrap_used, reason = "a developer tool may panic")]

use std::{path::PathBuf, time::Instant};

use vision::{
    Picture, VisualEncoder,
    clip::{ClipModel, Options, Runtime},
};

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().unwrap();
    let library = arguments.next();
    let runtime = if library.is_some() { Runtime::Ort } else { Runtime::Tract };
    for threads in [1, 2] {
        let options = Options { runtime, library: library.clone(), threads };
        let picture = Picture::new(896, 672, vec![100; 896 * 672 * 3]).unwrap();
        let model = ClipModel::load(&folder, &options).unwrap();
        measure(&format!("{runtime:?}, {threads} threads: load, and encode a text"), 1, |_| {
            model.encode_query("the first").unwrap();
        });
        measure("encode a text", 20, |turn| {
            model.encode_query(&format!("boat {turn}")).unwrap();
        });
        measure("load, and encode a picture", 1, |_| {
            model.encode_picture(&picture).unwrap();
        });
        measure("encode a picture", 20, |_| {
            model.encode_picture(&picture).unwrap();
        });
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"));
    println!("{}", memory.collect::<Vec<_>>().join(", "));
}

fn measure(what: &str, turns: u32, work: impl Fn(u32)) {
    let (began, before) = (Instant::now(), cpu_ms());
    for turn in 0..turns {
        work(turn);
    }
    let (turns, took) = (f64::from(turns), began.elapsed().as_secs_f64() * 1000.0);
    println!("{what}: {:.0} ms, {:.0} ms CPU time", took / turns, (cpu_ms() - before) / turns);
}

/// CPU time of this process in milliseconds, which other processes do not affect.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time, in ticks of 10 ms.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}
