//! HEIC and AVIF pixels by the system's libheif, found at run time.
#![deny(missing_docs)]
