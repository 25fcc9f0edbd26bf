//! Digits as pixels.

/// The size of a digit, in dots.
pub(super) const WIDTH: u32 = 5;
pub(super) const HEIGHT: u32 = 7;

/// The rows of each digit from top to bottom; the leftmost dot is the highest of five bits.
const DIGITS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

/// The digits of a number.
pub(super) fn digits(number: usize) -> impl Iterator<Item = [u8; 7]> {
    let text = number.to_string().into_bytes();
    text.into_iter().filter_map(|digit| DIGITS.get(usize::from(digit.wrapping_sub(b'0'))).copied())
}

/// The dots of a digit, as columns and rows.
pub(super) fn dots(digit: [u8; 7]) -> impl Iterator<Item = (u32, u32)> {
    let rows = (0..HEIGHT).zip(digit);
    rows.flat_map(|(y, row)| (0..WIDTH).filter(move |x| row >> (WIDTH - 1 - x) & 1 == 1).map(move |x| (x, y)))
}
