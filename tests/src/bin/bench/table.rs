use crate::closed_loop::Figures;

/// The figures of all rounds. Each row is printed when it is added.
pub(crate) struct Table {
    rows: Vec<(String, Figures)>,
}

impl Table {
    pub(crate) fn new() -> Self {
        println!(
            "{:>6}  {:<40} {:>9} {:>9} {:>9} {:>9} {:>11}",
            "round", "request", "requests", "req/s", "p50 ms", "p99 ms", "CPU µs/req"
        );
        Self { rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, round: u32, name: &str, figures: Figures) {
        print(&round.to_string(), name, &figures);
        self.rows.push((name.to_owned(), figures));
    }

    pub(crate) fn print_medians(&self) {
        println!();
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &self.rows {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        for name in names {
            if let Some(median) = self.median(name) {
                print("median", name, &median);
            }
        }
    }

    /// Prints the difference in processor time of two kinds of request.
    pub(crate) fn print_difference(&self, title: &str, request: &str, cheaper: &str) {
        if let (Some(one), Some(two)) = (self.median(request), self.median(cheaper)) {
            println!("{title}: {:.1} µs of CPU", one.cpu_us - two.cpu_us);
        }
    }

    /// Prints the ratios of throughput, processor time and latency.
    pub(crate) fn print_ratio(&self, ours: &str, other: &str) {
        if let (Some(one), Some(two)) = (self.median(ours), self.median(other)) {
            println!(
                "{ours}: {:.1} times the requests/s, {:.2} of the CPU time, {:.2} of the p99 of {other}",
                one.per_second / two.per_second,
                one.cpu_us / two.cpu_us,
                one.p99_ms / two.p99_ms
            );
        }
    }

    fn median(&self, name: &str) -> Option<Figures> {
        let rows: Vec<&Figures> =
            self.rows.iter().filter(|(of, _)| of == name).map(|(_, figures)| figures).collect();
        let figure = |of: fn(&Figures) -> f64| crate::median(rows.iter().map(|row| of(row)).collect());
        Some(Figures {
            requests: rows.iter().map(|row| row.requests).min()?,
            per_second: figure(|row| row.per_second),
            p50_ms: figure(|row| row.p50_ms),
            p99_ms: figure(|row| row.p99_ms),
            cpu_us: figure(|row| row.cpu_us),
        })
    }
}

fn print(round: &str, name: &str, figures: &Figures) {
    println!(
        "{round:>6}  {name:<40} {:>9} {:>9.0} {:>9.2} {:>9.2} {:>11.1}",
        figures.requests, figures.per_second, figures.p50_ms, figures.p99_ms, figures.cpu_us
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_per_name() {
        let mut table = Table::new();
        let figures = |cpu_us| Figures { requests: 5, per_second: 1.0, p50_ms: 1.0, p99_ms: 2.0, cpu_us };
        for (name, cpu_us) in [("a", 10.0), ("b", 99.0), ("a", 30.0)] {
            table.add(1, name, figures(cpu_us));
        }
        assert!((table.median("a").unwrap().cpu_us - 20.0).abs() < f64::EPSILON);
        assert!(table.median("c").is_none());
    }
}
