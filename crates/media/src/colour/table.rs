//! Applies the tables of profiles (`A2B0`): lut8Type, lut16Type and lutAToBType, ICC.1 10.10 to 10.12.

use moxcms::{
    ColorProfile, DataColorSpace, LutDataType, LutMultidimensionalType, LutStore, LutType, LutWarehouse,
    ParametricCurve, ProfileVersion, ToneReprCurve,
};

use super::grid::{Grid, GridPosition, interpolate};
use super::{D50, Encoder, light_of_root, light_of_xyz};

/// The black point of perceptual tables in version 4 (ICC.1, 6.3.3), as XYZ.
const PERCEPTUAL_BLACK: [f32; 3] = [0.003_36, 0.003_473_1, 0.002_87];
/// Maximum luminance (Y) of the black point: that of lightness 50. A profile with a lighter black point is wrong.
const LIGHTEST_BLACK: f32 = 0.184_187;

/// Number of entries in the table of a formula.
const CURVE_ENTRIES: u16 = 4096;

/// An affine map: rows, each with its offset.
type Affine = [[f32; 4]; 3];

const UNCHANGED: Affine = scaled(1.0);

/// Decodes XYZ from the connection space, 0 to 1 (ICC.1, 6.3.4).
const XYZ: Affine = scaled(1.0 + 32767.0 / 32768.0);
/// Decodes L*, a* and b* to the cube roots of XYZ.
const LAB: Affine = roots(1.0, 255.0);
/// As [`LAB`], but in the encoding of lut16Type, in which white is not the highest number.
const OLD_LAB: Affine = roots(65535.0 / 65280.0, 65535.0 / 256.0);

const fn scaled(factor: f32) -> Affine {
    [[factor, 0.0, 0.0, 0.0], [0.0, factor, 0.0, 0.0], [0.0, 0.0, factor, 0.0]]
}

/// Converts lightness from 0 to `lightness` × 100, and a* and b* from -128 in `colour` steps, to the cube roots of XYZ
/// (CIE 15, 8.2.1).
const fn roots(lightness: f32, colour: f32) -> Affine {
    let (base, lightness) = (16.0 / 116.0, lightness * 100.0 / 116.0);
    [
        [lightness, colour / 500.0, 0.0, base - 128.0 / 500.0],
        [lightness, 0.0, 0.0, base],
        [lightness, 0.0, -colour / 200.0, base + 128.0 / 200.0],
    ]
}

/// The conversion from RGB or CMYK to sRGB. RGB does not use the first of the four channels.
pub(super) struct Table {
    /// The grid position of each value of each channel, after the input curve.
    places: [Box<[GridPosition; 256]>; 4],
    grid: Grid,
    middle: Vec<Curve>,
    matrix: Option<Affine>,
    output: Vec<Curve>,
    /// Decodes the connection space to XYZ, or to its cube roots.
    connection: Affine,
    lab: bool,
    /// From XYZ to linear sRGB.
    light: Affine,
    values: Encoder,
}

impl Table {
    /// The table of a profile, if it has one for this number of channels.
    pub(super) fn of(profile: &ColorProfile, channels: usize) -> Option<Self> {
        let table = profile.lut_a_to_b_perceptual.as_ref()?;
        let lab = match profile.pcs {
            DataColorSpace::Xyz => false,
            DataColorSpace::Lab => true,
            _ => return None,
        };
        let (inputs, outputs) = match table {
            LutWarehouse::Lut(table) => (table.num_input_channels, table.num_output_channels),
            LutWarehouse::Multidimensional(table) => (table.num_input_channels, table.num_output_channels),
        };
        if usize::from(inputs) != channels || outputs != 3 {
            return None;
        }
        let mut table = match table {
            LutWarehouse::Lut(table) => Self::of_luts(table, channels, lab),
            LutWarehouse::Multidimensional(table) => Self::of_stages(table, channels, lab),
        }?;
        table.set_black_point(if profile.version() >= ProfileVersion::V4_0 {
            PERCEPTUAL_BLACK
        } else {
            // The darkest colour has all inks.
            black_point(table.xyz(if channels == 4 { [255; 4] } else { [0; 4] }))
        });
        Some(table)
    }

    fn of_luts(table: &LutDataType, channels: usize, lab: bool) -> Option<Self> {
        let side = table.num_clut_grid_points;
        let (sides, grid) = grid([side; 4], channels, &table.clut_table)?;
        Some(Self {
            places: places(sides, &tables(&table.input_table, channels)?),
            grid,
            middle: Vec::new(),
            matrix: None,
            output: non_linear(tables(&table.output_table, 3)?),
            connection: match (lab, table.lut_type) {
                (false, _) => XYZ,
                (true, LutType::Lut16) => OLD_LAB,
                (true, _) => LAB,
            },
            lab,
            light: UNCHANGED,
            values: Encoder::new(),
        })
    }

    fn of_stages(table: &LutMultidimensionalType, channels: usize, lab: bool) -> Option<Self> {
        let [a, b, c, d, ..] = table.grid_points;
        let (sides, grid) = match &table.clut {
            Some(clut) => grid([a, b, c, d], channels, clut)?,
            None if channels == 3 => identity_grid()?,
            None => return None,
        };
        let mut matrix = UNCHANGED;
        let (factors, bias) = (table.matrix.to_f32().v, table.bias.to_::<f32>().v);
        for ((row, [x, y, z]), added) in matrix.iter_mut().zip(factors).zip(bias) {
            *row = [x, y, z, added];
        }
        Some(Self {
            places: places(sides, &curves(&table.a_curves, channels)?),
            grid,
            middle: non_linear(curves(&table.m_curves, 3)?),
            matrix: Some(matrix),
            output: non_linear(curves(&table.b_curves, 3)?),
            connection: if lab { LAB } else { XYZ },
            lab,
            light: UNCHANGED,
            values: Encoder::new(),
        })
    }

    /// Maps `black` to 0 and keeps white (black point compensation, ISO 18619).
    fn set_black_point(&mut self, black: [f32; 3]) {
        let mut light = UNCHANGED;
        for (row, factors) in light.iter_mut().zip(light_of_xyz()) {
            let [x, y, z, added] = row;
            *added = 0.0;
            for (((moved, factor), white), black) in [x, y, z].into_iter().zip(factors).zip(D50).zip(black) {
                *moved = factor * white / (white - black);
                *added -= *moved * black;
            }
        }
        self.light = light;
    }

    /// The number of nodes, each a few bytes.
    pub(super) fn nodes(&self) -> usize {
        self.grid.len()
    }

    /// Converts RGB pixels; both slices have the same length.
    pub(super) fn convert_rgb(&self, source: &[u8], target: &mut [u8]) {
        for ([r, g, b], target) in source.as_chunks::<3>().0.iter().zip(target.as_chunks_mut::<3>().0) {
            *target = self.colour([0, *r, *g, *b]);
        }
    }

    /// Converts CMYK pixels (amounts of ink) to as many RGB pixels.
    pub(super) fn convert_cmyk(&self, source: &[u8], target: &mut [u8]) {
        for (ink, target) in source.as_chunks::<4>().0.iter().zip(target.as_chunks_mut::<3>().0) {
            *target = self.colour(*ink);
        }
    }

    fn colour(&self, values: [u8; 4]) -> [u8; 3] {
        affine(&self.light, self.xyz(values)).map(|light| self.values.of(light))
    }

    /// XYZ relative to [`D50`].
    fn xyz(&self, values: [u8; 4]) -> [f32; 3] {
        let mut places = [GridPosition::default(); 4];
        for ((place, value), channel) in places.iter_mut().zip(values).zip(&self.places) {
            *place = channel.get(usize::from(value)).copied().unwrap_or_default();
        }
        let mut colour = self.grid.interpolate(places);
        apply(&self.middle, &mut colour);
        if let Some(matrix) = &self.matrix {
            colour = affine(matrix, colour);
        }
        apply(&self.output, &mut colour);
        colour = affine(&self.connection, colour);
        if self.lab { light_of_roots(colour) } else { colour }
    }
}

/// XYZ from its cube roots.
fn light_of_roots(roots: [f32; 3]) -> [f32; 3] {
    let ([x, y, z], [white_x, _, white_z]) = (roots.map(light_of_root), D50);
    [white_x * x, y, white_z * z]
}

/// The black point for the darkest colour.
fn black_point(xyz: [f32; 3]) -> [f32; 3] {
    let [_, luminance, _] = xyz;
    let part = if luminance > LIGHTEST_BLACK { LIGHTEST_BLACK / luminance } else { 1.0 };
    let mut black = D50;
    for (black, found) in black.iter_mut().zip(xyz) {
        // A broken table may give any number, but black must not become white.
        *black = (found * part).max(0.0).min(*black / 2.0);
    }
    black
}

fn affine(map: &Affine, [x, y, z]: [f32; 3]) -> [f32; 3] {
    map.map(|[a, b, c, added]| a * x + b * y + c * z + added)
}

/// The grid positions of all values of four channels. If there are three curves, they belong to the last three
/// channels.
fn places(sides: [usize; 4], curves: &[Curve]) -> [Box<[GridPosition; 256]>; 4] {
    let unused = sides.len() - curves.len().min(sides.len());
    let mut curves = curves.iter();
    let mut channel = 0;
    sides.map(|side| {
        let curve = if channel < unused { None } else { curves.next() };
        channel += 1;
        let mut places = Box::new([GridPosition::default(); 256]);
        for (place, value) in places.iter_mut().zip(0..=u8::MAX) {
            let value = f32::from(value) / 255.0;
            *place = GridPosition::of(curve.map_or(value, |curve| curve.at(value)), side);
        }
        places
    })
}

/// The curve of a channel as a table; `None` is the identity.
struct Curve(Option<Vec<f32>>);

/// Applies the curves, if any.
fn apply(curves: &[Curve], numbers: &mut [f32]) {
    for (curve, number) in curves.iter().zip(numbers) {
        *number = curve.at(*number);
    }
}

impl Curve {
    fn of(curve: &ToneReprCurve) -> Self {
        let by_formula = |formula: &dyn Fn(f32) -> f32| {
            let last = f32::from(CURVE_ENTRIES - 1);
            Self::of_table((0..CURVE_ENTRIES).map(|entry| formula(f32::from(entry) / last)).collect())
        };
        match curve {
            ToneReprCurve::Lut(table) => match table.as_slice() {
                [] => Self(None),
                [gamma] => by_formula(&|value| value.powf(f32::from(*gamma) / 256.0)),
                table => Self::of_table(table.iter().map(|value| f32::from(*value) / 65535.0).collect()),
            },
            ToneReprCurve::Parametric(parameters) if parameters.is_empty() => Self(None),
            ToneReprCurve::Parametric(parameters) => ParametricCurve::new(parameters)
                .map_or(Self(None), |curve| by_formula(&|value| curve.eval(value))),
        }
    }

    fn of_table(table: Vec<f32>) -> Self {
        let last = u16::try_from(table.len().saturating_sub(1)).unwrap_or(u16::MAX);
        let straight = (0..=last)
            .zip(&table)
            .all(|(entry, value)| (f32::from(entry) / f32::from(last) - value).abs() < 1e-5);
        Self((!straight).then_some(table))
    }

    /// Numbers outside of 0 to 1 are clamped, except by the identity.
    fn at(&self, number: f32) -> f32 {
        self.0.as_ref().map_or(number, |table| interpolate(table, number))
    }
}

/// Drops the curves if all are the identity.
fn non_linear(curves: Vec<Curve>) -> Vec<Curve> {
    if curves.iter().all(|curve| curve.0.is_none()) { Vec::new() } else { curves }
}

/// The curves of `channels` channels; the identity if there are none.
fn curves(curves: &[ToneReprCurve], channels: usize) -> Option<Vec<Curve>> {
    match curves.len() {
        0 => Some((0..channels).map(|_| Curve(None)).collect()),
        length => (length == channels).then(|| curves.iter().map(Curve::of).collect()),
    }
}

/// The tables of `channels` channels, stored consecutively.
fn tables(store: &LutStore, channels: usize) -> Option<Vec<Curve>> {
    let numbers = numbers(store);
    let length = numbers.len() / channels;
    let tables = || numbers.chunks_exact(length).take(channels).map(|table| Curve::of_table(table.to_vec()));
    (length >= 2).then(|| tables().collect())
}

/// The grid of `channels` channels, with its sides in all four channels.
fn grid([a, b, c, d]: [u8; 4], channels: usize, store: &LutStore) -> Option<([usize; 4], Grid)> {
    let sides = if channels == 4 { [a, b, c, d] } else { [1, a, b, c] }.map(usize::from);
    let nodes = match store {
        LutStore::Store8(bytes) => {
            bytes.as_chunks().0.iter().map(|node| node.map(|n| u16::from(n) * 257)).collect()
        }
        LutStore::Store16(words) => words.as_chunks().0.to_vec(),
    };
    Some((sides, Grid::new(sides, nodes)?))
}

fn identity_grid() -> Option<([usize; 4], Grid)> {
    let sides = [1, 2, 2, 2];
    let ends = [0, u16::MAX];
    let corners = ends.iter().flat_map(|a| ends.iter().flat_map(|b| ends.iter().map(|c| [*a, *b, *c])));
    Some((sides, Grid::new(sides, corners.collect())?))
}

fn numbers(store: &LutStore) -> Vec<f32> {
    match store {
        LutStore::Store8(bytes) => bytes.iter().map(|byte| f32::from(*byte) / 255.0).collect(),
        LutStore::Store16(words) => words.iter().map(|word| f32::from(*word) / 65535.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_space_is_decoded() {
        let check = |connection: Affine, numbers, expect: [f32; 3]| {
            for (found, expect) in light_of_roots(affine(&connection, numbers)).into_iter().zip(expect) {
                assert!((found - expect).abs() < 1e-4, "{found} is not {expect}");
            }
        };
        let middle = 128.0 / 255.0;
        check(LAB, [1.0, middle, middle], D50);
        check(LAB, [0.0, middle, middle], [0.0; 3]);
        // L* 50, a* 20, b* −30: by the formulas of CIE 15.
        check(LAB, [0.5, 148.0 / 255.0, 98.0 / 255.0], [0.217_75, 0.184_19, 0.306_57]);
        let old = |number: f32| number * 256.0 / 65535.0;
        check(OLD_LAB, [65280.0 / 65535.0, old(128.0), old(128.0)], D50);
        check(OLD_LAB, [32640.0 / 65535.0, old(148.0), old(98.0)], [0.217_75, 0.184_19, 0.306_57]);
        assert!(affine(&XYZ, [32768.0 / 65535.0; 3]).iter().all(|found| (found - 1.0).abs() < 1e-6));
    }

    #[test]
    fn identity_grid_does_not_change_values() {
        let (sides, grid) = identity_grid().unwrap();
        let places = [0.0, 0.3, 0.9, 0.5].map(|value| GridPosition::of(value, 2));
        assert_eq!(sides, [1, 2, 2, 2]);
        for (found, expect) in grid.interpolate(places).into_iter().zip([0.3, 0.9, 0.5]) {
            assert!((found - expect).abs() < 1e-6);
        }
    }
}
