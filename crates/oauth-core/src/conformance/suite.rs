use std::sync::Arc;

use super::{cases, seed::Seed};
use crate::Store;

/// Calls the macro `callback` with what stands in the second brackets and the list of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! each_store_case {
    ([$($callback:tt)*] [$($with:tt)*]) => {
        $($callback)*! {
            [$($with)*]
            clients {
                a_client_is_kept_as_it_was_registered,
                nobody_has_an_unknown_id,
                the_same_digest_is_the_same_client,
                another_digest_or_none_is_another_client,
                the_oldest_clients_without_a_grant_make_room,
                only_clients_of_some_age_make_room,
                a_client_that_had_a_grant_never_makes_room,
                a_client_that_registers_again_makes_room_later,
                a_client_that_is_known_evicts_nobody,
            }
            codes {
                a_code_is_kept_with_its_grant,
                a_waiting_code_can_be_issued_again,
                a_code_stands_for_one_consent,
                a_redeemed_or_revoked_code_is_spent,
                a_code_is_redeemed_once,
                a_code_is_redeemed_before_it_expires,
                a_code_may_come_without_a_refresh_token,
                an_unknown_code_opens_nothing,
                a_revoked_code_opens_nothing,
                a_client_that_describes_itself_is_kept_with_its_code,
                a_code_that_is_not_new_keeps_no_client,
            }
            refresh {
                a_grant_is_found_by_its_handle,
                a_token_is_replaced_once,
                only_the_current_token_is_replaced,
                a_token_is_replaced_before_it_expires,
                a_revoked_grant_has_its_token_replaced_no_more,
                the_moments_of_rotations_are_kept,
                generations_and_moments_have_their_whole_range,
            }
            revocation {
                a_grant_ends_once,
                all_grants_of_a_user_end,
            }
            connections {
                connections_are_listed_newest_first,
                only_redeemed_unrevoked_grants_of_the_user_are_listed,
                a_connection_names_its_client,
                a_connection_tells_where_its_code_went,
                the_last_use_is_noted_and_never_moves_back,
            }
            sweeping {
                expired_codes_go_with_their_grants,
                revoked_grants_go,
                a_grant_goes_when_its_last_tokens_expired,
                the_longer_lived_token_keeps_a_grant,
                a_waiting_code_is_no_grant_that_ended,
                clients_without_a_grant_go,
                a_client_with_a_grant_stays,
                a_client_that_went_can_register_again,
                a_client_that_registers_again_stays_longer,
                a_client_that_describes_itself_goes_with_its_last_grant,
                a_sweep_goes_batch_by_batch,
            }
            concurrency {
                of_many_redemptions_one_wins,
                of_many_rotations_one_wins,
                nothing_is_alive_after_a_refresh_that_races_a_revocation,
                nothing_is_alive_after_a_redemption_that_races_the_end_of_all,
                a_grant_is_ended_by_one,
                of_many_equal_registrations_one_is_kept,
                a_consent_that_is_sent_many_times_makes_one_grant,
                the_latest_of_many_uses_stays,
            }
            model {
                random_operations_agree_with_a_model,
            }
        }
    };
}

macro_rules! dispatch {
    ([] $($topic:ident { $($case:ident,)+ })+) => {
        /// Runs one case, named as `topic::case`, on a fresh store.
        ///
        /// # Panics
        /// When the store does not do what the port promises, and when there is no such case.
        pub async fn run_case(name: &str, store: Arc<dyn Store>) {
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

each_store_case!([dispatch] []);

/// Makes one test of every case. It takes the name of an `async fn` without parameters that gives a fresh store and a
/// guard, which is dropped when the case is over. The crate that runs the suite depends on tokio.
#[macro_export]
macro_rules! conformance_suite {
    ($make_store:ident) => {
        $crate::each_store_case!([$crate::store_conformance_tests][$make_store]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! store_conformance_tests {
    ([$make_store:ident] $($topic:ident { $($case:ident,)+ })+) => {
        $(mod $topic {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $case() {
                    let (store, _guard) = super::$make_store().await;
                    let name = concat!(stringify!($topic), "::", stringify!($case));
                    $crate::conformance::run_case(name, ::std::sync::Arc::new(store)).await;
                }
            )+
        })+
    };
}
