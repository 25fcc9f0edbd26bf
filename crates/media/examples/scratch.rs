use domain::Rendition;
use std::time::Instant;
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let wanted: Vec<Rendition> = match args[1].as_str() {
        "full" => vec![Rendition::Full],
        "all" => Rendition::ALL.to_vec(),
        _ => Rendition::DISPLAYABLE.to_vec(),
    };
    let rounds: u32 = args[2].parse().unwrap();
    let out = &args[3];
    let (mut total, mut bytes) = (0.0, 0);
    for path in &args[4..] {
        let file = std::fs::read(path).unwrap();
        let mut best = f64::MAX;
        for _ in 0..rounds {
            let (c, _w) = (cpu(), Instant::now());
            let r = media::render(&file, &wanted, &media::Limits::default()).unwrap();
            best = best.min(cpu() - c);
            if out != "-" {
                let stem = std::path::Path::new(path).file_stem().unwrap().to_string_lossy().into_owned();
                for e in &r.renditions {
                    std::fs::write(format!("{out}/{stem}.{:?}.webp", e.rendition), &e.webp).unwrap();
                }
            }
            bytes += r.renditions.iter().map(|e| e.webp.len()).sum::<usize>();
        }
        println!("{:8.1} ms  {}", best, path.rsplit('/').next().unwrap());
        total += best;
    }
    println!("mean {:.1} ms, {} bytes", total / (args.len() - 4) as f64, bytes / rounds as usize);
}
