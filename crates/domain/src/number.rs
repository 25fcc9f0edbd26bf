use crate::Invalid;

/// Parses a number written in digits only, for example `50`: no sign, decimal point or exponent.
///
/// # Errors
/// [`Invalid`] naming `field` for any other character or a number that exceeds `u32`.
pub fn parse_digits(field: &'static str, value: &str) -> Result<u32, Invalid> {
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Invalid::new(field, "must be a whole number in plain digits"));
    }
    value.parse().map_err(|_| Invalid::new(field, "is too large"))
}

/// Parses a plain decimal number, for example `-12.5`: no exponent, no infinity, and at least one digit on each
/// side of the decimal point.
///
/// # Errors
/// [`Invalid`] naming `field`.
pub fn parse_decimal(field: &'static str, value: &str) -> Result<f64, Invalid> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = value.strip_prefix('-').unwrap_or(value);
    let plain = match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(unsigned),
    };
    match value.parse::<f64>() {
        Ok(number) if plain && number.is_finite() => Ok(number),
        _ => Err(Invalid::new(field, "must be a plain decimal number without an exponent")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_plain_numbers_are_parsed() {
        assert_eq!(parse_digits("limit", "007"), Ok(7));
        assert_eq!(parse_decimal("latitude", "-0.5"), Ok(-0.5));
        for bad in ["", "+1", "1e3", "1.", ".5", "0x1", "NaN", "inf", "-", "--1", "1,5", " 1", "١"] {
            assert!(parse_decimal("latitude", bad).is_err(), "{bad}");
            assert!(parse_digits("limit", bad).is_err(), "{bad}");
        }
        assert!(parse_digits("limit", "99999999999999999999").is_err());
        assert!(parse_decimal("latitude", &"9".repeat(400)).is_err());
    }

    proptest! {
        #[test]
        fn formatted_decimals_round_trip(number in -1.0e6..1.0e6_f64) {
            let text = format!("{number:.6}");
            prop_assert_eq!(parse_decimal("x", &text), Ok(text.parse::<f64>().unwrap()));
        }

        #[test]
        fn nothing_panics(text in ".*") {
            let _ = (parse_decimal("x", &text), parse_digits("x", &text));
        }
    }
}
