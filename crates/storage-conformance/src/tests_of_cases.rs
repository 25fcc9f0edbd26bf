//! The tests that an adapter defines.

/// Defines one test for every case. It takes the name of an `async fn` without parameters that returns a new migrated
/// store and a guard, which is dropped at the end of the case. The calling crate must depend on tokio.
#[macro_export]
macro_rules! conformance_suite {
    ($make_store:ident) => {
        $crate::each_case!([$crate::conformance_tests][$make_store]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ([$make_store:ident] $($topic:ident { $($case:ident,)+ })+) => {
        $(mod $topic {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $case() {
                    let (store, _guard) = super::$make_store().await;
                    let name = concat!(stringify!($topic), "::", stringify!($case));
                    $crate::run_case(name, ::std::sync::Arc::new(store)).await;
                }
            )+
        })+
    };
}
