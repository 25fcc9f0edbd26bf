//! Loads a C library of the system at run time and finds its functions.
//!
//! A binding declares the functions that it calls with [`functions!`], which generates a table `Functions`. The table keeps
//! the library open.
//!
//! # Unsafe code
//!
//! Loading a library runs its initialisers: the caller of [`SystemLibrary::open`] must ensure that they are sound. A
//! symbol has no type: the caller of [`SystemLibrary::function`] must give the right one.
#![deny(missing_docs)]

use std::error::Error as _;
use std::ffi::CStr;
use std::fmt;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// A release of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Why a library cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The system's loader does not find it or one of its dependencies.
    #[error("{library} cannot be loaded: {reason}")]
    NotFound {
        /// The library's name.
        library: &'static str,
        /// The loader's message.
        reason: String,
    },
    /// It lacks a required function.
    #[error("{library} lacks the function {function}")]
    MissingFunction {
        /// The library's name.
        library: &'static str,
        /// The function's name in C.
        function: String,
    },
    /// The release is too old.
    #[error("{library} {found} is too old; {oldest} or later is required")]
    TooOld {
        /// The library's name.
        library: &'static str,
        /// The installed release.
        found: Version,
        /// The oldest supported release.
        oldest: Version,
    },
}

/// An open library.
#[derive(Debug)]
pub struct SystemLibrary {
    name: &'static str,
    library: Library,
}

impl SystemLibrary {
    /// Opens the first of `files` that the system's loader finds. `name` is used in errors.
    ///
    /// All symbols are resolved now, while files can still be opened, and stay invisible to other libraries.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] with the loader's message about the first file.
    ///
    /// # Safety
    /// The initialisers of the library and of its dependencies must be sound to run.
    pub unsafe fn open(name: &'static str, files: &[&str]) -> Result<Self, LoadError> {
        let mut first_reason = None;
        for file in files.iter().copied() {
            // SAFETY: the caller ensures that the initialisers are sound to run.
            match unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) } {
                Ok(library) => return Ok(Self { name, library }),
                Err(error) => {
                    // The loader's message is the source; the error itself only names the call.
                    let reason = || error.source().map_or_else(|| error.to_string(), ToString::to_string);
                    first_reason.get_or_insert_with(reason);
                }
            }
        }
        Err(LoadError::NotFound { library: name, reason: first_reason.unwrap_or_default() })
    }

    /// The function pointer behind a symbol. It may be called as long as the library is open.
    ///
    /// # Errors
    /// [`LoadError::MissingFunction`].
    ///
    /// # Safety
    /// `F` must be the function's type as the library's header declares it.
    pub unsafe fn function<F: Copy>(&self, symbol: &CStr) -> Result<F, LoadError> {
        // SAFETY: the caller ensures that `F` is the type of the function.
        let found = unsafe { self.library.get::<F>(symbol.to_bytes_with_nul()) };
        found.map(|function| *function).map_err(|_| LoadError::MissingFunction {
            library: self.name,
            function: symbol.to_string_lossy().into_owned(),
        })
    }
}

/// Generates `Functions`, a table of function pointers, and `Functions::find`, which fills it from a [`SystemLibrary`].
///
/// Each declaration must match the library's header. A missing required function is an error; an optional one becomes
/// an `Option`.
///
/// ```
/// system_library::functions! {
///     extern "C"
///     required { length = c"strlen": fn(*const std::ffi::c_char) -> usize; }
///     optional { newer = c"function_of_a_later_release": fn(); }
/// }
///
/// # #[cfg(target_os = "linux")] {
/// // SAFETY: the C library is loaded already.
/// let library = unsafe { system_library::SystemLibrary::open("libc", &["libc.so.6"]) }?;
/// let functions = Functions::find(library)?;
/// // SAFETY: the text ends with a NUL.
/// assert_eq!(unsafe { (functions.length)(c"four".as_ptr()) }, 4);
/// assert!(functions.newer.is_none());
/// # }
/// # Ok::<(), system_library::LoadError>(())
/// ```
#[macro_export]
macro_rules! functions {
    (
        extern $abi:tt
        required { $($name:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)* }
        optional { $($maybe:ident = $maybe_symbol:literal: fn($($maybe_argument:ty),*) $(-> $maybe_result:ty)?;)* }
    ) => {
        /// The functions of the library. They may be called as long as this lives.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern $abi fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $maybe: Option<unsafe extern $abi fn($($maybe_argument),*) $(-> $maybe_result)?>,)*
            _library: $crate::SystemLibrary,
        }

        impl Functions {
            fn find(library: $crate::SystemLibrary) -> Result<Self, $crate::LoadError> {
                $(
                    // SAFETY: the declaration is that of the library's header.
                    let $name = unsafe { library.function($symbol) }?;
                )*
                $(
                    // SAFETY: the declaration is that of the library's header.
                    let $maybe = unsafe { library.function($maybe_symbol) }.ok();
                )*
                Ok(Self { $($name,)* $($maybe,)* _library: library })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(files: &[&str]) -> Result<SystemLibrary, LoadError> {
        // SAFETY: the tests open only the C library, which is loaded already.
        unsafe { SystemLibrary::open("libexample", files) }
    }

    #[test]
    fn missing_library_is_reported_by_its_first_file() {
        let error = open(&["libno-such-library.so.2", "libno-such-library.so.1"]).unwrap_err().to_string();
        let expect = "libexample cannot be loaded: libno-such-library.so.2: cannot open";
        assert!(error.starts_with(expect), "{error}");
    }

    #[test]
    fn later_files_are_tried() {
        assert!(open(&["libno-such-library.so.1", "libc.so.6"]).is_ok());
    }

    #[test]
    fn missing_function_is_reported() {
        let library = open(&["libc.so.6"]).unwrap();
        // SAFETY: there is no such function, so none is called with the wrong type.
        let found = unsafe { library.function::<unsafe extern "C" fn()>(c"no_such_function") };
        assert_eq!(found.unwrap_err().to_string(), "libexample lacks the function no_such_function");
    }

    #[test]
    fn old_release_is_reported() {
        let version = |major, minor| Version { major, minor, patch: 0 };
        let error = LoadError::TooOld { library: "libexample", found: version(1, 9), oldest: version(1, 12) };
        assert_eq!(error.to_string(), "libexample 1.9.0 is too old; 1.12.0 or later is required");
        assert!(version(1, 9) < version(1, 12));
    }
}
