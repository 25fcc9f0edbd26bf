use storage::SharedStore;

use crate::{Seed, cases};

/// Calls the macro `callback` with what stands in the second brackets and the list of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! each_case {
    ([$($callback:tt)*] [$($with:tt)*]) => {
        $($callback)*! {
            [$($with)*]
            accounts {
                an_account_is_made_as_asked,
                an_address_is_taken_once,
                accounts_are_listed_by_address,
                nobody_has_an_unknown_address,
                an_account_is_found_by_its_number,
                a_password_hash_is_found_by_its_address,
                a_plan_can_change,
                a_password_hash_can_change,
                the_first_sync_is_noted_for_good,
                a_deleted_account_is_gone_at_once,
                an_account_is_deleted_once,
                a_deleted_account_frees_its_address,
            }
            setup {
                a_link_makes_the_first_account_once,
                a_link_ends_with_any_account,
                no_link_holds_where_there_is_an_account,
                only_the_newest_links_hold,
                of_many_who_set_up_at_once_one_does,
            }
            security_events {
                events_are_told_newest_first,
                the_same_event_in_a_row_is_counted,
                a_flood_of_one_kind_leaves_the_others,
                events_of_a_deleted_account_are_gone,
            }
            api_keys {
                a_key_speaks_for_its_account,
                a_name_is_in_use_once,
                a_key_needs_an_account,
                a_revoked_key_opens_nothing,
                a_revoked_name_can_be_used_again,
                keys_are_listed_newest_first,
                the_last_use_is_noted,
                keys_of_a_deleted_account_open_nothing,
                a_plan_change_is_seen_by_the_next_request,
            }
            sessions {
                a_session_speaks_for_its_account,
                a_session_needs_an_account,
                a_session_ends_when_it_expires,
                a_session_that_is_used_is_prolonged,
                sessions_are_listed_newest_first,
                the_oldest_of_too_many_sessions_end,
                a_session_is_ended_once,
                all_sessions_but_one_can_be_ended,
                a_new_password_ends_all_sessions,
                sessions_of_a_deleted_account_are_over,
                expired_sessions_are_swept_batch_by_batch,
            }
            sign_in {
                ten_failures_lock_a_pair_out,
                the_window_moves_on,
                being_locked_out_does_not_count,
                a_hundred_failures_lock_an_address_out,
                many_failures_lock_a_network_out,
                attempts_from_the_future_do_not_count,
                the_later_of_two_locks_is_told,
                a_success_does_not_count,
                of_many_attempts_at_once_no_more_go_than_may,
                old_attempts_are_swept_batch_by_batch,
            }
            signing_keys {
                the_first_key_is_active,
                an_active_key_can_be_left_alone,
                a_new_key_retires_the_one_before,
                a_key_that_is_refused_retires_nothing,
                of_many_first_keys_one_is_active,
                of_many_rotations_one_key_stays_active,
                keys_that_were_retired_long_ago_are_dropped,
            }
            grants {
                a_grant_speaks_for_its_account,
                a_revoked_grant_is_told_as_such,
                a_plan_change_is_seen_by_the_next_request,
                a_code_needs_an_account,
                grants_of_a_deleted_account_are_revoked,
                a_purged_account_takes_its_grants_along,
                nothing_is_alive_after_consent_that_races_the_end_of_the_account,
            }
            blobs {
                an_announced_blob_is_taken_once_it_is_idle,
                announcing_again_puts_the_taking_off,
                a_taken_blob_cannot_be_written_until_it_is_forgotten,
                what_a_killed_sweeper_took_is_left_to_its_successor,
                a_batch_is_no_larger_than_asked,
                what_an_image_refers_to_is_never_taken,
                announcing_a_kept_blob_keeps_it_kept,
                forgetting_a_kept_blob_changes_nothing,
                an_original_that_was_taken_becomes_no_image,
                a_rendition_that_was_taken_stops_completion,
                released_blobs_can_be_taken_at_once,
                a_released_blob_that_is_announced_again_has_to_be_idle,
                a_kept_blob_that_is_announced_has_to_be_idle_once_released,
                a_rendition_that_two_originals_share_goes_with_the_last,
                an_original_that_two_accounts_share_goes_with_the_last,
                kept_blobs_are_listed_in_order,
            }
            import {
                a_new_image_waits_unseen,
                an_image_needs_an_announced_original,
                an_account_that_is_gone_gets_no_image,
                the_same_bytes_are_one_image,
                two_accounts_can_have_the_same_bytes,
                deleted_bytes_that_come_again_are_restored,
                what_failed_and_is_brought_again_is_tried_again,
                states_of_images_are_told,
            }
            queue {
                jobs_are_leased_oldest_first,
                a_job_tells_all_about_its_file,
                a_lease_is_exclusive,
                an_expired_lease_is_free_again,
                a_lost_lease_changes_nothing,
                a_renewed_lease_holds,
                only_the_lease_of_a_job_at_work_is_renewed,
                a_released_lease_does_not_count,
                all_leases_can_be_released,
                a_retry_waits,
                a_job_that_never_ends_is_failed,
                a_failed_image_has_its_reason_and_is_not_seen,
                completion_makes_all_of_an_image_visible,
                a_job_is_completed_once,
                what_failed_under_older_decoders_is_queued_again,
                what_failed_is_told_with_its_reason,
                the_queue_tells_its_length,
                jobs_of_a_deleted_account_are_gone,
            }
            sidecars {
                sidecars_come_with_the_job,
                of_two_of_a_kind_the_last_counts,
                a_sidecar_may_be_long_or_empty,
                a_sidecar_that_is_known_changes_nothing,
                a_new_sidecar_has_an_image_indexed_again_while_it_is_seen,
                a_kind_that_does_not_come_again_stays,
                a_sidecar_that_comes_while_its_image_is_indexed_is_not_missed,
                a_sidecar_that_comes_while_its_image_waits_is_read_with_it,
                a_failed_image_is_tried_again_with_its_new_sidecar,
                deleted_bytes_that_come_again_bring_their_sidecar,
                the_same_bytes_of_another_account_have_sidecars_of_their_own,
                sidecars_go_with_their_image,
                of_equal_sidecars_at_once_one_is_new,
            }
            refresh {
                what_was_said_is_replaced_but_the_words_in_it,
                renditions_that_were_not_made_anew_stay,
                the_known_picture_is_told,
                the_same_time_stays_where_it_is,
                another_time_moves_as_at_first,
                albums_follow_the_new_time,
                a_deleted_image_is_indexed_again_unseen,
                a_failure_leaves_the_image_as_it_was,
                what_never_ends_is_given_up,
                a_lost_lease_leaves_the_image_as_it_was,
                new_images_go_first,
                what_older_decoders_read_is_queued_batch_by_batch,
                what_nobody_sees_is_not_queued,
                a_sidecar_goes_before_newer_decoders,
                jobs_of_a_deleted_account_are_gone,
                the_window_follows_the_new_time,
            }
            stages {
                what_becomes_visible_waits_for_every_stage,
                a_new_stage_has_all_images_to_do,
                another_version_starts_anew,
                a_stage_of_a_newer_program_is_left_alone,
                read_words_are_found,
                read_words_outlive_a_refresh,
                a_lease_that_ends_frees_the_job,
                a_job_that_never_ends_is_failed,
                what_lacks_a_vector_is_queued,
            }
            vectors {
                vectors_come_in_order_and_by_account,
                only_what_the_viewer_sees_is_told,
                filters_hold_for_vectors,
                a_vector_that_changes_comes_again,
                vectors_of_purged_images_and_old_encoders_go,
            }
            full_renditions {
                what_becomes_visible_waits_for_its_full_rendition,
                a_full_rendition_that_is_there_is_not_made,
                the_same_bytes_wait_once,
                a_full_rendition_that_is_added_ends_its_job,
                what_another_made_meanwhile_ends_the_job,
                a_lease_is_exclusive,
                an_expired_lease_is_free_again,
                a_lost_lease_changes_nothing,
                only_the_lease_of_a_job_at_work_is_renewed,
                leases_can_be_released,
                a_retry_waits,
                a_job_that_never_ends_is_dropped,
                a_dropped_job_is_over_and_the_rendition_can_be_added,
                what_nobody_sees_is_not_made,
                a_deleted_account_waits_for_nothing,
                what_two_have_waits_until_both_are_gone,
            }
            capture_times {
                a_burst_of_300_equal_times_moves_apart,
                a_burst_of_3000_equal_times_moves_apart,
                a_free_moment_is_kept_and_a_taken_one_moves_to_the_next_free,
                a_deleted_image_holds_its_moment,
                accounts_do_not_move_each_others_times,
                at_the_end_of_time_images_move_earlier,
                the_first_moment_is_one_like_any_other,
            }
            paging {
                images_are_listed_newest_first,
                a_page_is_no_longer_than_asked,
                an_empty_library_has_empty_pages,
                a_walk_by_end_date_reaches_every_image,
                both_ends_of_a_range_belong_to_it,
                lists_hold_ones_own_images_only,
                a_listed_circle_looks_at_the_newest_thousand,
                distances_are_told_with_a_circle_only,
                a_random_library_is_listed_in_order,
            }
            lookups {
                ones_own_image_is_found,
                anothers_visible_image_is_foreign,
                of_many_ids_ones_own_visible_images_come_in_the_order_asked_for,
                what_its_owner_does_not_see_is_missing_for_all,
                images_of_a_deleted_account_are_missing,
                foreign_follows_the_owners_window,
                a_deleted_image_is_gone_and_can_be_restored,
                only_its_owner_restores_an_image,
            }
            window {
                the_free_plan_sees_the_newest_images,
                fewer_images_than_the_window_are_all_seen,
                the_window_is_by_capture_not_by_arrival,
                deleted_images_do_not_count,
                outside_the_window_an_id_is_missing,
                signed_renditions_follow_the_owners_window,
                searches_follow_the_window,
                albums_follow_the_window,
                albums_take_no_image_from_outside_the_window,
            }
            renditions {
                what_indexing_made_is_stored,
                what_its_owner_does_not_see_has_no_rendition,
                a_rendition_can_be_added_later,
                a_rendition_that_is_there_stays,
                a_rendition_needs_its_original_and_its_blob,
                renditions_that_are_made_anew_take_the_place_of_older_ones,
            }
            circles {
                a_circle_holds_its_rim,
                an_image_without_a_place_lies_in_no_circle,
                a_circle_may_cross_the_antimeridian,
                a_circle_may_hold_a_pole,
                the_largest_circle_holds_every_place,
                a_circle_holds_ones_own_images_only,
                a_circle_goes_with_range_album_and_deletion,
                circles_in_a_random_library_agree_with_a_model,
                huge_circles_in_a_large_library_agree_with_a_model,
            }
            text {
                better_tiers_come_first,
                content_only_leaves_place_and_file_name_out,
                case_and_accents_do_not_count,
                plural_and_singular_find_each_other,
                no_word_is_syntax,
                a_long_query_is_answered,
                no_words_find_nothing,
                words_find_ones_own_images_only,
                deleted_images_are_not_found_and_restored_ones_are,
                filters_narrow_what_words_find,
                the_limit_counts_what_passes_the_filter,
                strength_falls_within_a_tier_and_equals_go_newest_first,
                what_every_image_says_is_found_all_the_same,
                the_text_that_matched_is_told,
                all_words_may_stand_in_different_columns,
            }
            words {
                other_forms_of_a_word_are_found,
                words_that_look_alike_are_not_found,
                the_last_word_may_be_a_beginning,
                a_slip_is_forgiven_where_nothing_else_is_found,
                scripts_without_spaces_are_found_by_their_parts,
                small_words_need_not_stand_there,
                better_forms_are_stronger,
                the_passage_is_short_and_as_it_is_written,
                the_vocabulary_of_another_account_changes_nothing,
                words_of_removed_images_are_forgotten,
                what_an_image_said_before_is_forgotten,
                a_common_word_is_found_in_any_time,
                a_common_word_is_found_in_a_large_album,
                a_rare_word_is_found_beside_a_common_one,
                no_more_are_given_than_are_asked_for,
                the_word_itself_is_found_behind_many_that_begin_so,
                what_is_deleted_stands_in_no_ones_way,
                a_file_name_makes_no_word_of_a_slip,
                an_image_keeps_its_key,
                nothing_is_to_be_indexed_anew,
            }
            albums {
                a_new_album_is_as_asked,
                an_album_may_be_empty,
                albums_are_listed_newest_first,
                anothers_album_is_unknown,
                an_unknown_album_is_unknown,
                a_change_moves_updated_at_only_when_it_changes_something,
                a_foreign_image_goes_before_an_unknown_one,
                a_deleted_image_is_unknown_to_albums,
                counts_and_covers_follow_deletion_and_restoration,
                a_deleted_album_leaves_its_images,
                an_account_has_at_most_500_albums,
                a_title_may_hold_any_characters,
                an_album_holds_thousands_of_images,
            }
            purge {
                only_images_deleted_long_ago_go,
                a_purge_goes_batch_by_batch,
                nothing_of_a_purged_image_is_left,
                a_deleted_account_goes_with_all_it_held,
                a_purge_of_nothing_is_nothing,
                two_purges_at_once_take_each_image_once,
            }
            concurrency {
                sixty_four_writers_lose_nothing,
                of_equal_addresses_one_wins,
                of_equal_bytes_one_becomes_an_image,
                of_equal_deletions_one_finds_the_image,
                albums_changed_at_once_keep_every_change,
                readers_see_whole_albums_while_others_write,
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
        /// When the store does not do what the ports promise, and when there is no such case.
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

each_case!([dispatch] []);

/// Makes one test of every case. It takes the name of an `async fn` without parameters that gives a fresh migrated
/// store and a guard, which is dropped when the case is over. The crate that runs the suite depends on tokio.
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
