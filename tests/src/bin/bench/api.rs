use ::tests::black_box::{AnyError, Instance, Server, megabytes};

use crate::{
    closed_loop::{self, Until},
    connection::getters,
    load::CONNECTIONS,
    seeding::{SeededLibrary, seed},
};

/// Number of measured requests per kind. A warm-up of a tenth of them comes first.
const REQUESTS: usize = 2000;

pub(crate) async fn run(sizes: &[u32]) -> Result<(), AnyError> {
    for images in sizes {
        let folder = tempfile::tempdir()?;
        let seeded = seed(folder.path(), *images).await?;
        let server = Instance::open(folder.path())?.serve()?;
        server.wait_until_idle()?;
        println!("\n{images} images");
        println!("{:<34} {:>9} {:>10} {:>10} {:>12}", "request", "req/s", "p50 ms", "p99 ms", "CPU µs/req");
        for (name, paths) in requests(&seeded) {
            measure(&server, &seeded.key, name, paths)?;
        }
        println!("peak memory {:.0} MB", megabytes(server.usage().peak_bytes));
    }
    Ok(())
}

fn measure(server: &Server, key: &str, name: &str, paths: Vec<String>) -> Result<(), AnyError> {
    let measure = |paths| {
        let mut clients = getters(server.base_url(), key, paths, CONNECTIONS)?;
        closed_loop::measure(&mut clients, Until::Done, || server.usage().cpu)
    };
    // Warms up.
    measure(paths.iter().take(paths.len() / 10).cloned().collect())?;
    let figures = measure(paths)?;
    println!(
        "{name:<34} {:>9.0} {:>10.2} {:>10.2} {:>12.0}",
        figures.per_second, figures.p50_ms, figures.p99_ms, figures.cpu_us
    );
    Ok(())
}

fn requests(seeded: &SeededLibrary) -> Vec<(&'static str, Vec<String>)> {
    let repeat = |path: &dyn Fn(usize) -> String| {
        (0..REQUESTS).map(|number| format!("/api/ext/v2/{}", path(number))).collect::<Vec<_>>()
    };
    let id = |number: usize| seeded.ids.get(number * 7919 % seeded.ids.len()).cloned().unwrap_or_default();
    let day = |number: usize| format!("20{:02}-{:02}-15", 15 + number % 8, 1 + number % 12);
    let place = |number: usize| format!("latitude=48.{}&longitude=11.{}", number % 10, number % 7);
    vec![
        ("library info", repeat(&|_| "library".into())),
        ("list, newest 50", repeat(&|_| "images".into())),
        ("list, 50 before a day", repeat(&|number| format!("images?endDate={}", day(number)))),
        ("list, 100", repeat(&|_| "images?limit=100".into())),
        ("get", repeat(&|number| format!("images/{}", id(number)))),
        (
            "list in a circle of 50 km",
            repeat(&|number| format!("images?radiusMeters=50000&{}", place(number))),
        ),
        ("search a circle of 5 km", repeat(&|number| format!("search?radiusMeters=5000&{}", place(number)))),
        (
            "search a circle of 500 km",
            repeat(&|number| format!("search?radiusMeters=500000&{}", place(number))),
        ),
        ("search a rare word", repeat(&|number| format!("search?query={number}"))),
        ("search a common word", repeat(&|_| "search?query=beach".into())),
        ("search three words", repeat(&|_| "search?query=mountain+lake+snow".into())),
    ]
}
