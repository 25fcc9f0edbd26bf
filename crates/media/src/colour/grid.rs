//! Interpolates colours on a grid with four channels.

/// A position in one channel: the node before it, and the fraction of the way to the next node.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GridPosition {
    node: usize,
    fraction: f32,
}

impl GridPosition {
    /// The position of a value between 0 and 1 among `nodes` nodes.
    pub(super) fn of(value: f32, nodes: usize) -> Self {
        let last = u16::try_from(nodes.saturating_sub(1)).unwrap_or(u16::MAX);
        let exact = value.clamp(0.0, 1.0) * f32::from(last);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; NaN becomes 0")]
        let node = (exact as u16).min(last.saturating_sub(1));
        Self { node: node.into(), fraction: exact - f32::from(node) }
    }
}

/// Interpolates in a table whose entries span 0 to 1.
pub(super) fn interpolate(table: &[f32], value: f32) -> f32 {
    let GridPosition { node, fraction } = GridPosition::of(value, table.len());
    let before = table.get(node).copied().unwrap_or_default();
    let after = table.get(node + 1).copied().unwrap_or(before);
    before + (after - before) * fraction
}

/// Three numbers on each node of a grid with four channels. A grid for three channels has one node in the first channel. The
/// numbers are 16-bit, as in profiles, so that the grid fits into the processor's cache.
pub(super) struct Grid {
    /// The distance between nodes in each channel. The last channel is contiguous.
    strides: [usize; 4],
    nodes: Vec<[u16; 3]>,
}

impl Grid {
    /// A grid with these numbers of nodes in each channel; `None` if `nodes` has another length.
    pub(super) fn new(sides: [usize; 4], nodes: Vec<[u16; 3]>) -> Option<Self> {
        let [_, b, c, d] = sides;
        let strides = [b.checked_mul(c)?.checked_mul(d)?, c.checked_mul(d)?, d, 1];
        let count = sides.iter().try_fold(1, |count: usize, side| count.checked_mul(*side))?;
        (count > 0 && count == nodes.len()).then_some(Self { strides, nodes })
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The numbers at a position, from 0 to 1. Interpolation is linear in the first channel and tetrahedral in the others:
    /// each cell is divided along its diagonal from dark to light, so that grey depends only on grey nodes.
    #[inline]
    pub(super) fn interpolate(&self, [first, rest @ ..]: [GridPosition; 4]) -> [f32; 3] {
        let [stride, strides @ ..] = self.strides;
        let mut start = first.node * stride;
        let mut ways = [(0.0, 0); 3];
        for ((way, place), stride) in ways.iter_mut().zip(rest).zip(strides) {
            start += place.node * stride;
            *way = (place.fraction, stride);
        }
        // Sorts the fractions, the largest first.
        let [mut a, mut b, mut c] = ways;
        if a.0 < b.0 {
            (a, b) = (b, a);
        }
        if b.0 < c.0 {
            (b, c) = (c, b);
        }
        if a.0 < b.0 {
            (a, b) = (b, a);
        }
        let near = self.tetrahedron(start, [a, b, c]);
        let numbers = if first.fraction == 0.0 {
            near
        } else {
            let far = self.tetrahedron(start + stride, [a, b, c]);
            add_scaled(add_scaled([0.0; 3], near, 1.0 - first.fraction), far, first.fraction)
        };
        numbers.map(|number| number * (1.0 / 65535.0))
    }

    #[inline]
    fn tetrahedron(&self, start: usize, [a, b, c]: [(f32, usize); 3]) -> [f32; 3] {
        let node = |at: usize| self.nodes.get(at).copied().unwrap_or_default().map(f32::from);
        let (second, third) = (start + a.1, start + a.1 + b.1);
        let numbers = add_scaled([0.0; 3], node(start), 1.0 - a.0);
        let numbers = add_scaled(numbers, node(second), a.0 - b.0);
        let numbers = add_scaled(numbers, node(third), b.0 - c.0);
        add_scaled(numbers, node(third + c.1), c.0)
    }
}

/// Adds `share` of the second numbers to the first.
fn add_scaled([x, y, z]: [f32; 3], [a, b, c]: [f32; 3], share: f32) -> [f32; 3] {
    [x + a * share, y + b * share, z + c * share]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_linear_between_its_entries() {
        let check = |value, expect: f32| {
            let found = interpolate(&[0.0, 0.2, 1.0], value);
            assert!((found - expect).abs() < 1e-6, "{value}: {found}");
        };
        check(-1.0, 0.0);
        check(0.0, 0.0);
        check(0.25, 0.1);
        check(0.5, 0.2);
        check(0.75, 0.6);
        check(1.0, 1.0);
        check(2.0, 1.0);
        assert_eq!(interpolate(&[0.5], 0.7), 0.5);
        assert_eq!(interpolate(&[], 0.7), 0.0);
    }

    #[test]
    fn linear_function_is_reproduced() {
        // The number of steps of each side divides 65 535.
        let sides = [4_u16, 2, 6, 16];
        let mut nodes = Vec::new();
        for a in (0..=65535).step_by(65535 / 3) {
            for b in (0..=65535).step_by(65535) {
                for c in (0..=65535).step_by(65535 / 5) {
                    for d in (0..=65535_u32).step_by(65535 / 15) {
                        let numbers: [u32; 3] = [(a + b) / 2, (3 * c + d) / 4, 65535 - (a + d) / 2];
                        nodes.push(numbers.map(|number| u16::try_from(number).unwrap()));
                    }
                }
            }
        }
        let grid = Grid::new(sides.map(usize::from), nodes).unwrap();
        for number in 0..3000_u16 {
            let value = |step: u16| f32::from(number.wrapping_mul(step) % 101) / 100.0;
            let values = [value(1), value(7), value(13), value(29)];
            let places = [0, 1, 2, 3].map(|at| GridPosition::of(values[at], usize::from(sides[at])));
            let [a, b, c, d] = values;
            let expect = [(a + b) / 2.0, (3.0 * c + d) / 4.0, 1.0 - (a + d) / 2.0];
            for (found, expect) in grid.interpolate(places).into_iter().zip(expect) {
                assert!((found - expect).abs() < 1e-4, "{values:?}");
            }
        }
    }

    #[test]
    fn number_of_nodes_must_match() {
        assert!(Grid::new([2, 3, 4, 5], vec![[0; 3]; 120]).is_some());
        assert!(Grid::new([2, 3, 4, 5], vec![[0; 3]; 119]).is_none());
        assert!(Grid::new([0, 3, 4, 5], Vec::new()).is_none());
        assert!(Grid::new([usize::MAX; 4], Vec::new()).is_none());
    }
}
