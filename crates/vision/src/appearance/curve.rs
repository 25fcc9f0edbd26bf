//! Soft thresholds: convert a measured value to an activation.

/// 0 up to `none`, 1 from `full` on, linear in between. `full` may be less than `none`.
pub(super) fn ramp(value: f32, none: f32, full: f32) -> f32 {
    ((value - none) / (full - none)).clamp(0.0, 1.0)
}

/// 1 between the two inner of four rising borders, 0 outside the outer ones, linear in between.
pub(super) fn plateau(value: f32, [none_below, full_from, full_to, none_above]: [f32; 4]) -> f32 {
    ramp(value, none_below, full_from).min(ramp(value, none_above, full_to))
}

/// 0 at 0, 0.5 at `half`, 1 from `full` on, linear in between.
pub(super) fn through_half(value: f32, half: f32, full: f32) -> f32 {
    if value < half { 0.5 * ramp(value, 0.0, half) } else { 0.5 + 0.5 * ramp(value, half, full) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_points() {
        for (got, expect) in [
            (ramp(2.0, 1.0, 3.0), 0.5),
            (ramp(2.5, 3.0, 1.0), 0.25),
            (ramp(9.0, 3.0, 1.0), 0.0),
            (plateau(1.5, [1.0, 2.0, 4.0, 8.0]), 0.5),
            (plateau(3.0, [1.0, 2.0, 4.0, 8.0]), 1.0),
            (plateau(7.0, [1.0, 2.0, 4.0, 8.0]), 0.25),
            (through_half(0.1, 0.2, 0.6), 0.25),
            (through_half(0.4, 0.2, 0.6), 0.75),
            (through_half(2.0, 0.2, 0.6), 1.0),
        ] {
            assert!((got - expect).abs() < 1e-6, "{got} {expect}");
        }
    }
}
