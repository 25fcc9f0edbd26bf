use std::sync::Arc;

use super::{cases, fixture::Fixture};
use crate::Store;

/// Calls the macro in the first brackets with the tokens in the second brackets and the list of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! each_store_case {
    ([$($callback:tt)*] [$($with:tt)*]) => {
        $($callback)*! {
            [$($with)*]
            clients {
                a_client_survives_a_round_trip,
                an_unknown_id_finds_nothing,
                the_same_digest_is_the_same_client,
                another_digest_or_none_is_another_client,
                the_oldest_clients_without_a_grant_are_evicted,
                recent_clients_are_not_evicted,
                a_client_that_had_a_grant_is_never_evicted,
                a_client_that_registers_again_is_evicted_later,
                a_known_client_evicts_none,
            }
            codes {
                a_code_is_stored_with_its_grant,
                a_pending_code_can_be_issued_again,
                a_code_belongs_to_one_consent,
                a_redeemed_or_revoked_code_is_spent,
                a_code_is_redeemed_once,
                a_code_is_redeemed_before_it_expires,
                a_code_can_be_redeemed_without_a_refresh_token,
                an_unknown_code_is_not_redeemed,
                a_revoked_code_is_not_redeemed,
                a_client_with_a_document_is_stored_with_its_code,
                an_existing_code_stores_no_client,
            }
            refresh {
                a_grant_is_found_by_its_handle,
                a_token_is_replaced_once,
                only_the_current_token_is_replaced,
                a_token_is_replaced_before_it_expires,
                the_token_of_a_revoked_grant_is_not_replaced,
                rotation_times_are_stored,
                extreme_generations_and_times_are_stored,
            }
            revocation {
                a_grant_is_revoked_once,
                all_grants_of_a_user_are_revoked,
            }
            assertions {
                an_assertion_is_recorded_once,
                one_of_many_uses_succeeds,
                expired_assertions_are_swept,
            }
            connections {
                connections_are_listed_newest_first,
                only_redeemed_unrevoked_grants_of_the_user_are_listed,
                a_connection_names_its_client,
                a_connection_has_the_redirect_uri_of_its_code,
                the_last_use_never_moves_back,
            }
            sweeping {
                expired_codes_are_swept_with_their_grants,
                revoked_grants_are_swept,
                a_grant_is_swept_after_its_last_tokens_expired,
                a_revoked_grant_with_a_pending_code_is_swept,
                the_longer_lived_token_keeps_a_grant,
                an_access_token_keeps_a_grant_after_a_rotation,
                a_grant_with_a_pending_code_has_not_ended,
                clients_without_a_grant_are_swept,
                a_client_with_a_grant_is_kept,
                a_swept_client_can_register_again,
                a_client_that_registers_again_is_kept_longer,
                a_client_with_a_document_is_swept_after_its_last_grant,
                a_sweep_deletes_in_batches,
            }
            concurrency {
                one_of_many_redemptions_succeeds,
                one_of_many_rotations_succeeds,
                a_rotation_racing_a_revocation_leaves_no_valid_grant,
                a_redemption_racing_revoke_all_leaves_no_valid_grant,
                one_of_many_revocations_succeeds,
                one_of_many_equal_registrations_is_stored,
                repeated_consents_make_one_grant,
                the_latest_of_many_uses_is_kept,
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
        /// If the store breaks the port's contract, or there is no such case.
        pub async fn run_case(name: &str, store: Arc<dyn Store>) {
            let fixture = Fixture::new(store);
            match name {
                $($(
                    concat!(stringify!($topic), "::", stringify!($case)) => {
                        Box::pin(cases::$topic::$case(&fixture)).await;
                    }
                )+)+
                _ => panic!("there is no case {name}"),
            }
        }
    };
}

each_store_case!([dispatch] []);

/// Makes one test of each case. The argument is the name of an `async fn` that returns a fresh store and a guard. The
/// guard is dropped after the case; it may be `()`. The calling crate depends on tokio with the features `macros` and
/// `rt-multi-thread`.
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
