use storage::SharedStore;

use crate::{Seed, cases};

macro_rules! dispatch {
    ([] $($topic:ident { $($case:ident,)+ })+) => {
        /// Runs one case, named as `topic::case`, on a fresh store.
        ///
        /// # Panics
        /// When the store breaks a rule of the traits, and when there is no such case.
        pub async fn run_case(name: &str, store: SharedStore) {
            let seed = Seed::new(store);
            match name {
                $($(
                    concat!(stringify!($topic), "::", stringify!($case)) => {
                        Box::pin(cases::$topic::$case(&seed)).await;
                    }
                )+)+
                _ => panic!("there is no case {name}"),
            }
        }
    };
}

crate::each_case!([dispatch] []);
