use super::{super::concept::Concept, pictures::*};
use crate::{BuiltInEncoder, Picture, VisualEncoder as _};

fn activation(picture: &Picture, concept: Concept) -> f32 {
    BuiltInEncoder.encode_picture(picture).unwrap()[concept.index()]
}

/// Collects all failures, so that one run reports them together.
#[derive(Default)]
struct Check(Vec<String>);

impl Check {
    /// Expects a concept in the first picture and not in the others.
    fn expect(&mut self, concept: Concept, clear: &Picture, others: &[&Picture]) {
        let found = activation(clear, concept);
        if found <= 0.6 {
            self.0.push(format!("{concept:?} is only {found}"));
        }
        for (index, other) in others.iter().enumerate() {
            let found = activation(other, concept);
            if found >= 0.3 {
                self.0.push(format!("{concept:?} is {found} in other picture {index}"));
            }
        }
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "{:#?}", self.0);
    }
}

#[test]
fn uniform_colours_have_only_their_names() {
    for (rgb, expect) in [
        ([220, 20, 30], vec![Concept::Red]),
        ([255, 130, 0], vec![Concept::Orange]),
        ([255, 235, 40], vec![Concept::Yellow, Concept::LightYellow]),
        ([40, 140, 50], vec![Concept::Green]),
        ([0, 160, 160], vec![Concept::Turquoise]),
        ([30, 90, 210], vec![Concept::Blue]),
        ([120, 40, 160], vec![Concept::Purple]),
        ([255, 105, 180], vec![Concept::Pink]),
        ([255, 190, 205], vec![Concept::Pink, Concept::LightPink]),
        ([110, 70, 40], vec![Concept::Brown]),
        ([215, 195, 160], vec![Concept::Beige, Concept::LightBrown]),
        ([5, 5, 6], vec![Concept::Black]),
        ([250, 250, 250], vec![Concept::White]),
        ([128, 128, 128], vec![Concept::Gray]),
        ([110, 5, 10], vec![Concept::Red, Concept::DarkRed]),
        ([10, 60, 20], vec![Concept::Green, Concept::DarkGreen]),
        ([15, 20, 90], vec![Concept::Blue, Concept::DarkBlue]),
        ([150, 205, 240], vec![Concept::Blue, Concept::LightBlue]),
        ([150, 225, 150], vec![Concept::Green, Concept::LightGreen]),
        ([200, 170, 225], vec![Concept::Purple, Concept::LightPurple]),
        ([75, 75, 75], vec![Concept::Gray, Concept::DarkGray]),
        ([185, 185, 185], vec![Concept::Gray, Concept::LightGray]),
    ] {
        let vector = BuiltInEncoder.encode_picture(&flat(rgb)).unwrap();
        let colours = Concept::ALL.iter().take_while(|concept| **concept != Concept::Pastel);
        for colour in colours {
            let found = vector[colour.index()];
            if expect.contains(colour) {
                assert!(found > 0.75, "{rgb:?} is {colour:?} by only {found}");
            } else {
                assert!(found < 0.35, "{rgb:?} is {colour:?} by {found}");
            }
        }
    }
}

#[test]
fn small_striking_areas_count_but_specks_do_not() {
    let dot = |radius: f32| {
        generate(move |x, y| {
            if (x - 0.5).hypot((y - 0.5) * 0.75) < radius {
                [215.0, 20.0, 25.0]
            } else {
                [150.0, 152.0, 149.0]
            }
        })
    };
    // 6 % and 0.3 % of the picture.
    assert!(activation(&dot(0.12), Concept::Red) > 0.6);
    assert!(activation(&dot(0.026), Concept::Red) < 0.3);
}

#[test]
fn tones_are_recognized() {
    let mut check = Check::default();
    let gray = flat([128, 128, 128]);
    let black = flat([4, 4, 4]);
    let white = flat([254, 254, 254]);
    check.expect(Concept::Dark, &black, &[&gray, &white]);
    check.expect(Concept::Bright, &white, &[&gray, &black]);
    check.expect(Concept::Bright, &flat([225, 220, 230]), &[&night(), &sunset()]);
    check.expect(Concept::LowContrast, &gray, &[&page(), &sunset()]);
    let halves = generate(|x, y| if (x + 0.2 * (y * 9.0).sin()) < 0.5 { [8.0; 3] } else { [245.0; 3] });
    check.expect(Concept::HighContrast, &halves, &[&gray, &snow()]);
    let blown =
        photograph(|x, y| if y < 0.6 { [255.0; 3] } else { mix([240.0; 3], [150.0; 3], bumps(x, y)) });
    check.expect(Concept::Overexposed, &blown, &[&gray, &leaves(), &sunset()]);
    let fog = photograph(|x, y| {
        mix([205.0, 208.0, 211.0], [150.0, 154.0, 158.0], y * y + 0.06 * bumps(x * 0.2, y))
    });
    check.expect(Concept::Hazy, &fog, &[&leaves(), &night(), &page(), &black]);
    check.expect(Concept::Warm, &flat([225, 160, 90]), &[&gray, &snow(), &flat([90, 130, 200])]);
    check.expect(Concept::Cool, &flat([90, 130, 200]), &[&gray, &sunset(), &leaves()]);
    check.expect(Concept::Vivid, &flat([230, 30, 40]), &[&gray, &snow(), &flat([140, 130, 120])]);
    let dull = generate(|x, _| if x < 0.5 { [122.0, 130.0, 142.0] } else { [140.0, 126.0, 112.0] });
    check.expect(Concept::Muted, &dull, &[&gray, &flat([230, 30, 40]), &leaves()]);
    let rainbow = generate(|x, _| {
        let channel = |shift: f32| 127.0 + 127.0 * ((x + shift) * std::f32::consts::TAU).cos();
        [channel(0.0), channel(0.333), channel(0.667)]
    });
    check.expect(Concept::Colourful, &rainbow, &[&flat([230, 30, 40]), &gray, &sunset(), &leaves()]);
    let pastel = generate(|x, _| if x < 0.5 { [250.0, 210.0, 215.0] } else { [205.0, 225.0, 250.0] });
    check.expect(Concept::Pastel, &pastel, &[&gray, &leaves(), &rainbow, &white]);
    check.expect(Concept::Neon, &flat([60, 255, 20]), &[&gray, &leaves(), &sunset(), &flat([40, 140, 50])]);
    let toned = |tint: [f32; 3]| {
        photograph(move |x, y| {
            let light = 0.5 + 0.3 * bumps(x * 0.3, y * 0.3) + 0.2 * (x * 4.0).sin();
            tint.map(|value| value * light)
        })
    };
    let neutral = toned([240.0, 240.0, 240.0]);
    let sepia = toned([240.0, 205.0, 160.0]);
    check.expect(Concept::Monochrome, &neutral, &[&sepia, &leaves(), &sunset(), &rainbow]);
    check.expect(Concept::Sepia, &sepia, &[&neutral, &leaves(), &rainbow, &night()]);
    check.finish();
}

#[test]
fn textures_are_recognized() {
    let mut check = Check::default();
    let gray = flat([128, 128, 128]);
    check.expect(Concept::Smooth, &gray, &[&leaves(), &page()]);
    check.expect(Concept::Busy, &leaves(), &[&gray, &sunset(), &night(), &snow()]);
    for angle in [0.0_f32, 0.6, 1.57, 2.4] {
        let stripes = generate(|x, y| {
            let along = x * angle.cos() + y * 0.75 * angle.sin();
            if (along * 90.0).sin() > 0.0 { [220.0, 215.0, 205.0] } else { [60.0, 70.0, 110.0] }
        });
        check.expect(Concept::Striped, &stripes, &[&gray, &leaves(), &sunset(), &page(), &close_up()]);
    }
    let blurred = photograph(|x, y| {
        mix([40.0, 60.0, 50.0], [200.0, 170.0, 150.0], 0.5 + 0.5 * (x * 8.0).sin() * (y * 6.0).sin())
    });
    check.expect(Concept::Blurry, &blurred, &[&leaves(), &page(), &close_up(), &night()]);
    check.expect(Concept::Sharp, &leaves(), &[&blurred, &gray]);
    let mut noise = Noise::new();
    let grainy = generate(|_, y| noise.add(mix([120.0; 3], [170.0; 3], y), 45.0));
    check.expect(Concept::Grainy, &grainy, &[&blurred, &gray, &page(), &sunset()]);
    check.finish();
}

#[test]
fn layouts_are_recognized() {
    let mut check = Check::default();
    let gray = |width, height| generate_sized(width, height, |_, _| [128.0; 3]);
    check.expect(Concept::Panorama, &gray(500, 200), &[&gray(320, 180), &gray(200, 200), &gray(200, 500)]);
    check.expect(Concept::Upright, &gray(300, 400), &[&gray(400, 300), &gray(300, 300)]);
    check.expect(Concept::Sideways, &gray(400, 300), &[&gray(300, 400), &gray(300, 300)]);
    check.expect(Concept::Square, &gray(300, 300), &[&gray(400, 300), &gray(300, 400)]);
    let butterfly = photograph(|x, y| {
        let x = (x - 0.5).abs();
        mix([40.0, 40.0, 90.0], [240.0, 200.0, 60.0], 0.5 + bumps(x * 0.4, y * 0.3) + 0.5 * (x * 14.0).sin())
    });
    let lopsided = generate(|x, y| mix([30.0; 3], [220.0; 3], x + 0.1 * bumps(x, y)));
    check.expect(Concept::Symmetric, &butterfly, &[&lopsided, &gray(300, 300), &sunset(), &leaves()]);
    check.expect(
        Concept::BlurredBackground,
        &close_up(),
        &[&leaves(), &page(), &sunset(), &gray(300, 300), &snow()],
    );
    let small_subject = generate(|x, y| {
        if (x - 0.65).hypot((y - 0.6) * 0.75) < 0.08 { [60.0, 50.0, 45.0] } else { [235.0, 233.0, 228.0] }
    });
    check.expect(Concept::Minimal, &small_subject, &[&leaves(), &page(), &gray(300, 300)]);
    check.expect(Concept::Page, &page(), &[&leaves(), &snow(), &small_subject, &gray(300, 300), &sunset()]);
    let drawing = generate(|x, y| match ((x * 3.0).floor() as i32, (y * 2.0).floor() as i32) {
        (0, 0) | (2, 1) => [230.0, 40.0, 50.0],
        (1, _) => [40.0, 90.0, 200.0],
        _ => [250.0, 220.0, 60.0],
    });
    check.expect(Concept::Graphic, &drawing, &[&leaves(), &snow(), &sunset(), &close_up()]);
    check.finish();
}

#[test]
fn scenes_are_recognized() {
    let mut check = Check::default();
    let blue_sky = hills([60.0, 110.0, 200.0], [170.0, 205.0, 240.0], [70.0, 110.0, 50.0]);
    let gray_sky = hills([190.0, 192.0, 196.0], [215.0, 216.0, 218.0], [80.0, 95.0, 60.0]);
    let blue_hour = hills([22.0, 32.0, 76.0], [90.0, 110.0, 160.0], [16.0, 20.0, 38.0]);
    let backlit = photograph(|x, y| {
        let figure = (x - 0.5).abs() < 0.12 && y > 0.3;
        if y > 0.75 || figure { [10.0; 3] } else { mix([235.0, 236.0, 240.0], [250.0; 3], y) }
    });
    check.expect(Concept::Sunset, &sunset(), &[&blue_sky, &gray_sky, &snow(), &night(), &leaves(), &page()]);
    check.expect(
        Concept::Snow,
        &snow(),
        &[&blue_sky, &gray_sky, &sunset(), &page(), &leaves(), &flat([255; 3])],
    );
    check.expect(
        Concept::Night,
        &night(),
        &[&blue_sky, &gray_sky, &sunset(), &snow(), &page(), &flat([0; 3])],
    );
    check.expect(
        Concept::BlueHour,
        &blue_hour,
        &[&blue_sky, &sunset(), &night(), &leaves(), &flat([0, 0, 255])],
    );
    check.expect(
        Concept::BlueSky,
        &blue_sky,
        &[&gray_sky, &sunset(), &night(), &leaves(), &flat([90, 130, 220])],
    );
    check.expect(Concept::Overcast, &gray_sky, &[&blue_sky, &sunset(), &night(), &leaves(), &flat([200; 3])]);
    check.expect(Concept::Silhouette, &backlit, &[&gray_sky, &leaves(), &snow(), &night(), &page()]);
    check.finish();
}
