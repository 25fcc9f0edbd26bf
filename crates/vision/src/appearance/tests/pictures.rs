//! Generated pictures.

use crate::Picture;

pub(super) const WIDTH: u32 = 384;
pub(super) const HEIGHT: u32 = 288;

/// A picture of a size whose pixels are a function of their position, from 0 (left, top) to 1 (right, bottom).
pub(super) fn generate_sized(width: u32, height: u32, mut at: impl FnMut(f32, f32) -> [f32; 3]) -> Picture {
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    for row in 0..height {
        for column in 0..width {
            let [x, y] = [(column as f32 + 0.5) / width as f32, (row as f32 + 0.5) / height as f32];
            rgb.extend(at(x, y).map(|value| value.round().clamp(0.0, 255.0) as u8));
        }
    }
    Picture::new(width, height, rgb).unwrap()
}

/// A picture of the usual size.
pub(super) fn generate(at: impl FnMut(f32, f32) -> [f32; 3]) -> Picture {
    generate_sized(WIDTH, HEIGHT, at)
}

pub(super) fn flat(rgb: [u8; 3]) -> Picture {
    generate(|_, _| rgb.map(f32::from))
}

pub(super) fn mix(one: [f32; 3], other: [f32; 3], share: f32) -> [f32; 3] {
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|channel| one[channel] * (1.0 - share) + other[channel] * share)
}

/// Pseudo-random noise, the same in every run.
pub(super) struct Noise(fastrand::Rng);

impl Noise {
    pub(super) fn new() -> Self {
        Self(fastrand::Rng::with_seed(7))
    }

    /// Adds the same noise to all channels, at most `strength` of 255.
    pub(super) fn add(&mut self, rgb: [f32; 3], strength: f32) -> [f32; 3] {
        let change = (self.0.f32() * 2.0 - 1.0) * strength;
        rgb.map(|value| value + change)
    }
}

/// A surface with bumps of several sizes, -1 to 1.
pub(super) fn bumps(x: f32, y: f32) -> f32 {
    ((x * 61.0 + (y * 23.0).sin() * 3.0).sin()
        + (y * 87.0 + (x * 31.0).sin() * 4.0).sin()
        + (x * 190.0 + y * 70.0).sin() * (y * 210.0 - x * 40.0).sin())
        / 3.0
}

/// A picture of the usual size with the noise of a camera.
pub(super) fn photograph(mut at: impl FnMut(f32, f32) -> [f32; 3]) -> Picture {
    let mut noise = Noise::new();
    generate(|x, y| noise.add(at(x, y), 2.0))
}

/// A sky above dark hills.
pub(super) fn hills(top: [f32; 3], bottom: [f32; 3], ground: [f32; 3]) -> Picture {
    photograph(|x, y| {
        let horizon = 0.66 + 0.05 * (x * 9.0).sin();
        if y < horizon {
            mix(top, bottom, y / horizon)
        } else {
            mix(ground, [0.0; 3], 0.2 + 0.4 * bumps(x, y))
        }
    })
}

pub(super) fn sunset() -> Picture {
    hills([90.0, 80.0, 130.0], [255.0, 150.0, 60.0], [35.0, 28.0, 30.0])
}

pub(super) fn night() -> Picture {
    photograph(|x, y| {
        let lamp = [(0.2, 0.7), (0.45, 0.62), (0.7, 0.75), (0.85, 0.55), (0.3, 0.55), (0.55, 0.8)]
            .iter()
            .any(|(left, top)| (x - left).hypot((y - top) * 0.75) < 0.022);
        if lamp { [255.0, 235.0, 190.0] } else { mix([12.0, 14.0, 30.0], [34.0, 30.0, 34.0], y) }
    })
}

pub(super) fn snow() -> Picture {
    let mut noise = Noise::new();
    generate(|x, y| {
        let sky = [196.0, 206.0, 220.0];
        let tree = y > 0.25 && y < 0.55 && (x * 37.0).sin() > 0.75;
        if tree {
            [50.0, 55.0, 58.0]
        } else if y < 0.42 {
            sky
        } else {
            noise.add(mix([226.0, 230.0, 238.0], [240.0, 243.0, 248.0], y), 9.0)
        }
    })
}

pub(super) fn page() -> Picture {
    generate(|x, y| {
        let line = (y * 24.0).fract();
        let inside = (0.1..0.9).contains(&x) && (0.08..0.92).contains(&y);
        let stroke = (x * 150.0 + (y * 24.0).floor() * 1.7).sin() > 0.1 && (x * 23.0 + y * 3.0).sin() > -0.8;
        if inside && (0.3..0.7).contains(&line) && stroke { [20.0; 3] } else { [250.0, 249.0, 246.0] }
    })
}

/// A sharp ball with a check pattern before a blurred background.
pub(super) fn close_up() -> Picture {
    photograph(|x, y| {
        let soft =
            mix([60.0, 110.0, 60.0], [120.0, 150.0, 90.0], 0.5 + 0.5 * (x * 9.0).sin() * (y * 7.0).cos());
        let inside = (x - 0.5).hypot((y - 0.5) * 0.75) < 0.2;
        let check = (x * 120.0).sin() * (y * 90.0).sin() > 0.0;
        match (inside, check) {
            (false, _) => soft,
            (true, false) => [240.0, 220.0, 70.0],
            (true, true) => [110.0, 60.0, 20.0],
        }
    })
}

/// Many sharp details of all sizes.
pub(super) fn leaves() -> Picture {
    let mut noise = Noise::new();
    generate(|x, y| {
        let bump = bumps(x, y) + bumps(y * 1.7, x * 1.3);
        let lit = if bump > 0.1 { [120.0, 150.0, 60.0] } else { [30.0, 52.0, 20.0] };
        noise.add(lit, 25.0)
    })
}
