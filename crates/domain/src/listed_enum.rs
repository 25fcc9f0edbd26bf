/// Declares an enum without fields and its constant `ALL`, so that the list cannot lack a variant.
///
/// ```
/// domain::listed_enum! {
///     /// A side of a picture.
///     #[derive(Debug, PartialEq)]
///     pub enum Side {
///         Left,
///         Right,
///     }
/// }
/// assert_eq!(Side::ALL, [Side::Left, Side::Right]);
/// ```
#[macro_export]
macro_rules! listed_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every variant, in the order of the declaration.
            $visibility const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];
        }
    };
}
