//! Paints pictures from formulas, the same in every run.

use image::{Rgb, RgbImage};

type Colour = [f32; 3];

/// A scene to paint.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scene {
    /// A sky from one colour to another above dark hills.
    Hills {
        top: Colour,
        bottom: Colour,
        ground: Colour,
    },
    /// Lamps in the dark.
    Lamps,
    /// Snow under a pale sky.
    Snow,
    /// Lines of dark marks on paper.
    Paper {
        paper: Colour,
    },
    /// Stripes of two colours.
    Stripes {
        one: Colour,
        other: Colour,
        angle: f32,
    },
    /// A ball before a wall that is not quite even.
    Ball {
        wall: Colour,
        ball: Colour,
        radius: f32,
    },
    /// A ball full of detail before soft colours.
    CloseUp {
        one: Colour,
        other: Colour,
    },
    /// Soft waves of two colours.
    Waves {
        one: Colour,
        other: Colour,
    },
    /// Rough ground, in light and shadow, tinted.
    Rocks {
        tint: Colour,
    },
    Leaves {
        light: Colour,
        shadow: Colour,
    },
    /// A light haze that darkens downwards.
    Fog,
    /// Rectangles of many colours.
    Blocks,
}

pub(super) fn paint(scene: Scene, width: u32, height: u32) -> RgbImage {
    let mut noise = Noise(7);
    RgbImage::from_fn(width, height, |column, row| {
        let place = [(column as f32 + 0.5) / width as f32, (row as f32 + 0.5) / height as f32];
        let (colour, strength) = scene.at(place, width as f32 / height as f32);
        let change = noise.next() * strength;
        Rgb(colour.map(|value| byte(value + change)))
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
fn byte(value: f32) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

/// A linear congruential generator of numbers from -1 to 1.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}

fn mix(one: Colour, other: Colour, share: f32) -> Colour {
    let share = share.clamp(0.0, 1.0);
    let [a, b, c] = one;
    let [d, e, f] = other;
    [a + (d - a) * share, b + (e - b) * share, c + (f - c) * share]
}

/// A bumpy surface at several scales, from -1 to 1.
fn bumps(x: f32, y: f32) -> f32 {
    let coarse = (x * 61.0 + (y * 23.0).sin() * 3.0).sin() + (y * 87.0 + (x * 31.0).sin() * 4.0).sin();
    (coarse + (x * 190.0 + y * 70.0).sin() * (y * 210.0 - x * 40.0).sin()) / 3.0
}

impl Scene {
    /// The colour at a point, and the amount of noise.
    fn at(self, [x, y]: [f32; 2], ratio: f32) -> (Colour, f32) {
        let from_middle = ((x - 0.5) * ratio).hypot(y - 0.5);
        let colour = match self {
            Self::Hills { top, bottom, ground } => {
                let horizon = 0.66 + 0.05 * (x * 9.0).sin();
                if y < horizon {
                    mix(top, bottom, y / horizon)
                } else {
                    mix(ground, [0.0; 3], 0.2 + 0.4 * bumps(x, y))
                }
            }
            Self::Lamps => {
                let lamps = [
                    (0.2, 0.7),
                    (0.45, 0.62),
                    (0.7, 0.75),
                    (0.85, 0.55),
                    (0.3, 0.55),
                    (0.55, 0.8),
                    (0.1, 0.6),
                ];
                let lit = lamps.iter().any(|(left, top)| ((x - left) * ratio).hypot(y - top) < 0.03);
                if lit { [255.0, 235.0, 190.0] } else { mix([12.0, 14.0, 30.0], [34.0, 30.0, 34.0], y) }
            }
            Self::Snow => {
                let trees = (0.25..0.55).contains(&y) && (x * 37.0).sin() > 0.75;
                if trees {
                    [50.0, 55.0, 58.0]
                } else if y < 0.42 {
                    [196.0, 206.0, 220.0]
                } else {
                    return (mix([226.0, 230.0, 238.0], [240.0, 243.0, 248.0], y), 9.0);
                }
            }
            Self::Paper { paper } => {
                let line = (y * 24.0).fract();
                let inside = (0.1..0.9).contains(&x) && (0.08..0.92).contains(&y);
                let stroke =
                    (x * 190.0 + (y * 24.0).floor() * 1.7).sin() > 0.1 && (x * 23.0 + y * 3.0).sin() > -0.8;
                if inside && (0.3..0.7).contains(&line) && stroke { [20.0; 3] } else { paper }
            }
            Self::Stripes { one, other, angle } => {
                let along = x * ratio * angle.cos() + y * angle.sin();
                if (along * 70.0).sin() > 0.0 { one } else { other }
            }
            Self::Ball { wall, ball, radius } => {
                if from_middle < radius {
                    mix(ball, [0.0; 3], (from_middle / radius).powi(2) * 0.3)
                } else {
                    mix(wall, [0.0; 3], 0.05 + 0.05 * (x * 3.0).sin())
                }
            }
            Self::CloseUp { one, other } => {
                let check = (x * 120.0).sin() * (y * 90.0).sin() > 0.0;
                match (from_middle < 0.27, check) {
                    (false, _) => mix(one, other, 0.5 + 0.5 * (x * 9.0).sin() * (y * 7.0).cos()),
                    (true, false) => [240.0, 220.0, 70.0],
                    (true, true) => [110.0, 60.0, 20.0],
                }
            }
            Self::Waves { one, other } => mix(one, other, 0.5 + 0.5 * (x * 8.0).sin() * (y * 6.0).sin()),
            Self::Rocks { tint } => {
                let light = 0.5 + 0.3 * bumps(x * 0.5, y * 0.5) + 0.2 * (x * 4.0).sin();
                tint.map(|value| value * light)
            }
            Self::Leaves { light, shadow } => {
                let bump = bumps(x, y) + bumps(y * 1.7, x * 1.3);
                return (if bump > 0.1 { light } else { shadow }, 25.0);
            }
            Self::Fog => mix([205.0, 208.0, 211.0], [150.0, 154.0, 158.0], y * y + 0.06 * bumps(x * 0.2, y)),
            Self::Blocks => {
                let colours = [
                    [230.0, 40.0, 50.0],
                    [40.0, 90.0, 200.0],
                    [250.0, 220.0, 60.0],
                    [40.0, 160.0, 70.0],
                    [150.0, 60.0, 170.0],
                ];
                let number = (x * 5.0).floor() + 2.0 * (y * 4.0).floor();
                let colour =
                    colours.iter().enumerate().find(|(place, _)| (number % 5.0 - *place as f32).abs() < 0.5);
                return (colour.map_or([128.0; 3], |(_, colour)| *colour), 0.0);
            }
        };
        (colour, 2.0)
    }
}
