use storage::SharedStore;

use crate::{Seed, cases};

/// Calls the macro `callback` with the tokens in the second brackets and the list of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! each_case {
    ([$($callback:tt)*] [$($with:tt)*]) => {
        $($callback)*! {
            [$($with)*]
            accounts {
                an_account_is_created,
                an_address_can_be_used_once,
                accounts_are_listed_by_address,
                an_unknown_address_has_no_account,
                an_account_is_found_by_id,
                a_password_hash_is_found_by_address,
                a_plan_can_change,
                a_password_hash_can_change,
                the_first_sync_is_recorded_once,
                a_deleted_account_disappears_at_once,
                an_account_is_deleted_once,
                a_deleted_account_frees_its_address,
            }
            setup {
                a_link_creates_the_first_account_once,
                any_account_invalidates_links,
                no_link_is_valid_when_an_account_exists,
                only_the_newest_links_are_valid,
                only_one_concurrent_setup_succeeds,
            }
            security_events {
                events_are_listed_newest_first,
                repeated_events_are_counted,
                many_events_of_one_kind_do_not_displace_others,
                events_of_a_deleted_account_are_gone,
            }
            api_keys {
                a_key_authenticates_its_account,
                a_name_can_be_used_once,
                a_key_needs_an_account,
                a_revoked_key_is_invalid,
                a_revoked_name_can_be_used_again,
                keys_are_listed_newest_first,
                the_last_use_is_recorded,
                keys_of_a_deleted_account_are_invalid,
                a_plan_change_is_seen_by_the_next_request,
                a_key_has_its_kind,
                each_kind_has_its_own_names,
                a_key_is_revoked_by_its_id_once,
            }
            login_flows {
                a_confirmed_flow_is_taken_once,
                the_tokens_of_a_flow_have_different_uses,
                a_flow_expires,
                a_denied_flow_is_gone,
                a_flow_needs_an_account,
                confirmed_flows_end_with_the_sessions,
                only_one_concurrent_poll_takes_the_flow,
                surplus_flows_replace_the_oldest_unconfirmed_ones,
                expired_flows_are_swept_in_batches,
            }
            sessions {
                a_session_authenticates_its_account,
                a_session_needs_an_account,
                a_session_ends_when_it_expires,
                use_extends_a_session,
                sessions_are_listed_newest_first,
                sessions_beyond_the_maximum_end_oldest_first,
                a_session_is_ended_once,
                all_sessions_but_one_can_be_ended,
                a_new_password_ends_all_sessions,
                sessions_of_a_deleted_account_end,
                expired_sessions_are_swept_in_batches,
            }
            trash {
                the_trash_is_paged_newest_deletion_first,
                only_the_owner_gets_renditions_of_deleted_images,
                the_trash_is_emptied_in_batches,
                a_purged_photo_can_be_added_again,
            }
            problems {
                dismissed_photos_stay_dismissed_until_another_failure,
                failed_photos_are_paged_and_counted,
                failed_photos_are_queued_again,
            }
            selections {
                a_selection_counts_each_visible_image_once,
                a_selection_is_visited_in_batches,
                a_deleted_selection_is_restored_exactly,
                deleting_a_selection_stays_in_the_free_window,
                deleted_images_are_selected_by_id_and_by_time,
                a_selection_is_added_to_and_removed_from_an_album,
                a_selection_excludes_images_of_other_accounts,
            }
            sign_in {
                ten_failures_lock_a_pair_out,
                the_lock_window_slides,
                refused_attempts_do_not_count,
                a_hundred_failures_lock_an_address_out,
                many_failures_lock_a_network_out,
                attempts_from_the_future_do_not_count,
                the_later_of_two_locks_is_returned,
                a_success_does_not_count,
                concurrent_attempts_do_not_exceed_the_limit,
                old_attempts_are_swept_in_batches,
            }
            signing_keys {
                the_first_key_is_active,
                a_first_key_is_added_only_if_none_is_active,
                a_new_key_retires_the_previous_one,
                a_refused_key_retires_nothing,
                only_one_concurrent_first_key_becomes_active,
                concurrent_rotations_leave_one_active_key,
                long_retired_keys_are_deleted,
            }
            grants {
                a_grant_authenticates_its_account,
                a_revoked_grant_is_returned_as_revoked,
                a_plan_change_is_seen_by_the_next_request,
                a_code_needs_an_account,
                grants_of_a_deleted_account_are_revoked,
                purging_an_account_deletes_its_grants,
                consent_racing_account_deletion_leaves_no_valid_grant,
            }
            blobs {
                an_announced_blob_is_taken_once_it_is_idle,
                announcing_again_restarts_the_idle_time,
                a_taken_blob_cannot_be_written_until_it_is_forgotten,
                blobs_taken_by_a_killed_sweeper_are_listed,
                a_batch_is_no_larger_than_requested,
                referenced_blobs_are_never_taken,
                announcing_a_kept_blob_keeps_it_kept,
                forgetting_a_kept_blob_changes_nothing,
                a_taken_original_cannot_be_added,
                a_taken_rendition_prevents_completion,
                released_blobs_can_be_taken_at_once,
                a_released_blob_announced_again_must_be_idle,
                a_kept_blob_announced_again_must_be_idle_after_release,
                a_shared_rendition_is_released_with_the_last_original,
                a_shared_original_is_released_with_the_last_account,
                kept_blobs_are_listed_in_order,
            }
            import {
                a_new_image_is_pending_and_invisible,
                an_image_needs_an_announced_original,
                a_deleted_account_gets_no_image,
                the_same_bytes_are_one_image,
                two_accounts_can_have_the_same_bytes,
                importing_a_deleted_image_again_restores_it,
                importing_a_failed_image_again_retries_it,
                states_of_images_are_returned,
                known_originals_are_neither_deleted_nor_failed,
            }
            uploads {
                an_upload_is_found_by_account_protocol_and_name,
                an_unfinished_upload_keeps_its_name,
                tus_parts_continue_each_other,
                chunks_arrive_in_any_order_and_replace,
                parts_count_as_stored,
                parts_do_not_exceed_the_quota,
                concurrent_parts_do_not_exceed_the_quota,
                a_finished_upload_stays_known_with_its_result,
                a_deleted_upload_is_gone,
                unfinished_uploads_and_parts_are_limited,
                the_newest_finished_uploads_stay_known,
                idle_uploads_are_swept_in_batches,
                uploads_of_a_deleted_account_are_gone_and_swept,
                files_of_parts_are_known,
                only_one_of_concurrent_parts_at_one_offset_is_added,
                only_one_of_concurrent_uploads_of_one_name_begins,
            }
            queue {
                jobs_are_leased_oldest_first,
                a_job_describes_its_file,
                a_lease_is_exclusive,
                an_expired_lease_can_be_leased_again,
                a_lost_lease_changes_nothing,
                a_renewed_lease_is_extended,
                only_leases_of_listed_jobs_are_renewed,
                a_released_attempt_does_not_count,
                leases_of_a_killed_worker_can_be_ended,
                a_retry_is_delayed,
                a_job_leased_too_often_fails,
                a_failed_image_has_a_reason_and_is_invisible,
                completion_makes_the_image_visible,
                a_job_is_completed_once,
                images_failed_under_older_decoders_are_requeued,
                failed_images_are_listed_with_reasons,
                the_queue_length_is_counted,
                jobs_of_a_deleted_account_are_gone,
            }
            roles {
                a_role_has_one_holder,
                a_released_role_is_free_at_once,
                an_expired_role_is_taken_over_with_a_higher_number,
                the_former_holder_can_neither_renew_nor_release,
                an_expired_role_that_nobody_took_can_be_renewed,
                roles_are_independent,
                all_roles_of_a_holder_are_released_together,
                only_one_of_two_concurrent_sweepers_sweeps,
            }
            races {
                an_original_survives_the_purge_of_another_accounts_image,
                operations_at_the_same_time_break_no_rule,
                a_reader_of_new_vectors_misses_none,
                a_stage_that_opens_during_completions_reaches_every_image,
            }
            workers {
                no_stage_job_is_leased_twice,
                only_the_current_worker_completes_a_job,
                only_the_current_worker_completes_a_stage_job,
                the_newer_of_two_program_versions_keeps_the_stage,
                older_decoders_leave_jobs_for_newer_decoders,
            }
            sidecars {
                sidecars_come_with_the_job,
                the_last_sidecar_of_a_kind_counts,
                a_sidecar_may_be_long_or_empty,
                a_known_sidecar_changes_nothing,
                a_new_sidecar_reindexes_a_visible_image,
                a_missing_kind_keeps_its_sidecar,
                a_sidecar_for_a_missing_kind_replaces_none,
                a_sidecar_added_during_indexing_is_used,
                a_sidecar_added_to_a_pending_image_is_used,
                a_failed_image_is_retried_with_its_new_sidecar,
                a_restored_image_gets_its_new_sidecar,
                accounts_have_separate_sidecars_for_one_original,
                an_original_has_the_sidecars_of_its_newest_image,
                sidecars_are_purged_with_their_image,
                only_one_of_concurrent_equal_sidecars_is_new,
            }
            reindex {
                metadata_is_replaced_and_ocr_text_kept,
                renditions_not_made_again_stay,
                the_decoded_picture_is_returned_with_the_job,
                an_unchanged_capture_time_is_kept,
                a_changed_capture_time_moves_to_a_free_one,
                albums_use_the_new_capture_time,
                a_deleted_image_is_indexed_again_and_stays_invisible,
                a_failure_leaves_the_image_unchanged,
                a_job_leased_too_often_is_given_up,
                a_lost_lease_leaves_the_image_unchanged,
                new_images_are_leased_first,
                images_of_older_decoders_are_queued_in_batches,
                invisible_images_are_not_queued,
                new_sidecars_come_before_newer_decoders,
                jobs_of_a_deleted_account_are_gone,
                the_free_window_uses_the_new_capture_time,
            }
            edits {
                corrected_values_are_used_everywhere,
                corrections_survive_indexing,
                corrections_survive_deletion,
                a_repeated_shift_of_many_images_is_applied_once,
                an_edit_is_undone_as_a_whole,
                a_zone_of_a_corrected_position_is_undone_with_it,
                only_visible_images_are_corrected,
                the_neighbours_and_albums_of_a_photo_are_returned,
            }
            stages {
                visible_images_are_queued_for_every_stage,
                a_new_stage_processes_all_images,
                another_version_processes_all_images_again,
                a_stage_of_a_newer_program_is_unchanged,
                ocr_text_is_searchable,
                ocr_text_survives_reindexing,
                an_expired_lease_frees_the_job,
                a_job_leased_too_often_fails,
                images_without_a_vector_are_queued,
            }
            vectors {
                vectors_are_ordered_and_separate_by_account,
                only_visible_vectors_are_returned,
                filters_apply_to_vectors,
                a_changed_vector_gets_a_new_id,
                vectors_of_purged_images_and_old_encoders_are_deleted,
            }
            watched_files {
                imported_versions_are_known_by_account,
                remembering_a_version_again_updates_its_time,
                old_versions_and_those_of_deleted_accounts_are_swept_in_batches,
            }
            timeline {
                the_state_has_the_months_and_the_waiting_photos,
                months_are_counted,
                months_follow_every_change,
                the_free_window_cuts_a_month,
                pages_start_at_either_end,
                a_preview_is_kept,
            }
            integrity {
                operations_break_no_rule,
                a_repair_of_sound_rows_changes_nothing,
                a_discarded_rendition_is_made_again,
                a_discarded_full_rendition_is_queued,
                a_worker_with_an_old_job_cannot_complete_a_lost_rendition,
                uses_of_a_blob_are_listed,
                blobs_are_unregistered_until_they_are_announced,
                used_blobs_are_not_released,
                operations_on_files_and_uploads_break_no_rule,
                the_length_of_an_original_can_be_corrected,
                parts_of_uploads_are_listed,
            }
            full_renditions {
                visible_images_are_queued_for_full_renditions,
                an_existing_full_rendition_is_not_queued,
                a_shared_original_is_queued_once,
                adding_the_full_rendition_completes_its_job,
                a_rendition_made_elsewhere_completes_the_job,
                a_lease_is_exclusive,
                an_expired_lease_can_be_leased_again,
                a_lost_lease_changes_nothing,
                only_leases_of_listed_jobs_are_renewed,
                leases_can_be_released,
                a_retry_is_delayed,
                a_job_leased_too_often_is_dropped,
                a_rendition_can_be_added_after_its_job_was_dropped,
                originals_without_visible_images_are_not_queued,
                jobs_of_a_deleted_account_are_removed,
                a_shared_original_is_queued_until_both_images_are_deleted,
            }
            capture_times {
                a_burst_of_300_equal_times_gets_unique_times,
                a_burst_of_3000_equal_times_gets_unique_times,
                a_used_time_moves_to_the_next_free_one,
                a_deleted_image_keeps_its_capture_time,
                capture_times_are_unique_per_account_only,
                images_at_the_last_moment_move_earlier,
                the_first_moment_is_not_special,
            }
            paging {
                images_are_listed_newest_first,
                a_page_is_no_longer_than_its_limit,
                an_empty_library_has_empty_pages,
                paging_by_end_date_reaches_every_image,
                a_range_includes_both_ends,
                lists_contain_own_images_only,
                a_listed_circle_filters_the_newest_thousand,
                distances_are_returned_with_a_circle_only,
                a_random_library_is_listed_in_order,
            }
            exports {
                images_are_exported_oldest_first_whatever_the_plan,
                a_snapshot_has_the_rows_of_all_tables,
                a_snapshot_ends_when_its_receiver_has_enough,
            }
            lookups {
                a_text_with_a_null_character_is_no_id,
                an_own_image_is_found,
                another_accounts_visible_image_is_foreign,
                own_visible_images_are_returned_in_the_order_of_ids,
                an_image_invisible_to_its_owner_is_missing_for_all,
                images_of_a_deleted_account_are_missing,
                a_foreign_image_follows_its_owners_window,
                a_deleted_image_is_gone_and_can_be_restored,
                only_its_owner_restores_an_image,
            }
            window {
                the_free_plan_sees_the_newest_images,
                fewer_images_than_the_window_are_all_visible,
                the_window_is_by_capture_time,
                deleted_images_do_not_count,
                images_outside_the_window_are_missing,
                renditions_follow_the_owners_window,
                searches_follow_the_window,
                albums_follow_the_window,
                albums_take_no_image_from_outside_the_window,
            }
            renditions {
                renditions_of_indexing_are_stored,
                invisible_images_have_no_renditions,
                a_rendition_can_be_added_later,
                an_existing_rendition_stays,
                a_rendition_needs_its_original_and_its_blob,
                new_renditions_replace_older_ones,
            }
            cameras {
                a_camera_narrows_every_search,
                only_visible_images_of_a_camera_are_found,
                a_camera_of_many_images_is_searched_by_words,
                cameras_are_listed_by_their_newest_image,
                the_camera_follows_the_file,
            }
            circles {
                a_circle_includes_its_boundary,
                an_image_without_a_position_is_in_no_circle,
                a_circle_may_cross_the_antimeridian,
                a_circle_may_include_a_pole,
                the_largest_circle_includes_every_place,
                a_circle_contains_own_images_only,
                a_circle_combines_with_range_album_and_deletion,
                circles_in_a_random_library_agree_with_a_model,
                huge_circles_in_a_large_library_agree_with_a_model,
            }
            map {
                a_random_map_agrees_with_a_model,
                many_photos_at_one_spot_are_one_cluster,
                a_map_may_cross_the_180_meridian,
                a_map_has_own_visible_images_only,
                a_map_follows_the_window,
                a_photo_moves_on_the_map,
                newest_photos_of_an_area_are_paged_by_time,
                a_new_store_needs_no_filling,
            }
            text {
                better_tiers_come_first,
                content_only_ignores_place_and_file_name,
                case_and_accents_are_ignored,
                plural_and_singular_find_each_other,
                words_are_never_query_syntax,
                a_long_query_works,
                no_words_find_nothing,
                words_find_own_images_only,
                deleted_images_are_not_found_and_restored_ones_are,
                filters_narrow_searches_by_words,
                the_limit_counts_images_that_pass_the_filter,
                matches_are_ordered_by_tier_strength_and_time,
                words_of_every_image_are_found,
                the_matching_text_is_returned,
                words_may_match_in_different_columns,
            }
            words {
                inflections_are_found,
                similar_words_are_not_found,
                the_last_word_may_be_a_prefix,
                typos_are_corrected_when_nothing_else_matches,
                scripts_without_spaces_are_found_by_their_parts,
                stop_words_are_optional,
                better_matches_are_stronger,
                the_passage_is_short_and_verbatim,
                the_place_or_file_name_that_matched_is_returned,
                vocabularies_are_separate_by_account,
                words_of_purged_images_are_removed,
                old_words_of_a_reindexed_image_are_removed,
                a_common_word_is_found_at_any_time,
                a_common_word_is_found_in_a_large_album,
                a_rare_word_is_found_beside_a_common_one,
                no_more_matches_than_requested_are_returned,
                an_exact_word_comes_before_many_prefix_matches,
                deleted_images_do_not_affect_matches,
                file_names_do_not_prevent_typo_correction,
                an_image_keeps_its_key,
                new_images_need_no_reindexing,
            }
            albums {
                an_album_is_created,
                an_album_may_be_empty,
                albums_are_listed_newest_first,
                another_accounts_album_is_unknown,
                an_unused_id_is_no_album,
                updated_at_is_set_only_by_real_changes,
                a_foreign_image_takes_precedence_over_an_unknown_one,
                a_deleted_image_is_unknown_to_albums,
                counts_and_covers_follow_deletion_and_restoration,
                deleting_an_album_keeps_its_images,
                an_account_has_at_most_500_albums,
                a_title_may_contain_any_characters,
                an_album_holds_thousands_of_images,
                a_chosen_cover_is_shown_while_it_is_visible,
                a_cover_outside_the_free_window_is_not_shown,
                an_album_is_paged_in_both_orders,
                the_albums_of_an_image_are_listed,
            }
            purge {
                only_long_deleted_images_are_purged,
                images_are_purged_in_batches,
                nothing_of_a_purged_image_is_left,
                a_deleted_account_is_purged_with_its_data,
                a_purge_keeps_undeleted_images,
                concurrent_purges_remove_each_image_once,
            }
            concurrency {
                sixty_four_writers_lose_nothing,
                only_one_of_concurrent_equal_addresses_gets_an_account,
                only_one_of_concurrent_equal_files_is_added,
                only_one_concurrent_deletion_finds_the_image,
                concurrent_album_changes_are_all_kept,
                readers_see_consistent_albums_during_writes,
            }
            synced_files {
                an_account_has_a_root_folder,
                a_file_is_returned_as_it_was_put,
                members_are_listed_by_name,
                a_folder_is_created_once,
                a_file_needs_its_folder,
                a_put_obeys_its_condition,
                content_is_replaced_under_the_same_id,
                a_change_reaches_every_folder_above,
                times_are_changed_one_by_one,
                refusals_come_in_order,
                a_refused_change_changes_nothing,
                a_deleted_account_has_no_files,
                accounts_have_separate_files,
                photos_and_sidecars_are_found_by_prefix,
                a_sidecar_is_stored_whole,
                an_etag_never_names_two_states,
                only_one_concurrent_put_creates_the_file,
                a_put_racing_the_deletion_of_its_folder_is_atomic,
            }
            recent_files {
                files_are_paged_from_the_newest_to_the_oldest,
                recent_files_are_between_two_times,
                files_that_left_the_tree_are_not_recent,
                a_change_of_times_and_a_move_are_seen_at_once,
                a_file_is_located_by_its_id,
            }
            file_images {
                several_files_may_have_one_image,
                an_image_is_deleted_with_its_last_file,
                an_image_without_files_survives_other_files,
                bytes_that_are_put_again_restore_the_image_of_a_deleted_file,
                a_deleted_image_stays_deleted_when_nothing_is_restored,
                an_image_deleted_elsewhere_stays_deleted,
                a_restored_image_can_be_deleted_for_good,
                a_replaced_photo_is_deleted_with_its_last_file,
                putting_the_same_bytes_again_changes_no_image,
                an_image_can_be_deleted_before_it_is_indexed,
                a_failed_image_is_deleted_with_its_last_file,
                a_file_outlives_its_purged_image,
                an_import_links_files_whose_image_was_purged,
                a_partial_file_becomes_a_photo_when_it_is_moved,
                moving_a_photo_ignores_the_given_image,
                the_original_of_a_partial_file_is_kept,
                a_purge_keeps_the_original_of_a_partial_file,
                an_original_counts_once_in_the_quota,
                a_full_account_stores_no_new_original,
                puts_racing_the_deletion_of_another_file_keep_the_image,
                the_image_belongs_to_the_account_of_the_file,
            }
            file_quota {
                sidecars_count_as_stored,
                a_full_account_stores_no_more_sidecars,
                the_sidecar_bytes_of_a_copy_are_limited,
                entries_that_store_nothing_are_limited,
                a_photo_has_a_limited_number_of_files,
                an_original_is_stored_while_an_image_or_a_partial_file_has_it,
            }
            file_removal {
                a_deleted_file_is_gone,
                a_deleted_folder_is_gone_at_once,
                deleted_folders_are_swept_in_batches,
                the_sweep_deletes_images_whose_last_file_is_gone,
                the_last_file_may_be_deleted_before_the_sweep,
                a_deep_tree_is_swept,
                concurrent_sweeps_delete_each_file_once,
                files_of_a_deleted_account_are_purged_in_batches,
                a_file_deleted_after_its_folder_was_moved_is_gone,
            }
            file_moves {
                a_moved_folder_keeps_everything_below_it,
                nothing_is_moved_into_itself,
                a_destination_needs_its_folder,
                a_destination_is_replaced_only_on_request,
                a_replaced_folder_loses_all_its_members,
                a_copy_is_a_new_tree,
                no_entry_is_deeper_than_a_path_may_be,
            }
            file_locks {
                a_locked_file_is_changed_only_with_its_token,
                a_deep_lock_covers_everything_below,
                a_shallow_lock_of_a_folder_covers_its_list_of_members,
                locks_exclude_each_other,
                locking_nothing_creates_a_placeholder,
                a_lock_applies_until_it_expires,
                a_lock_ends_by_its_token,
                locks_end_when_their_file_is_moved,
                all_locks_are_listed_with_their_paths,
                an_account_has_a_limited_number_of_locks,
            }
            file_model { random_file_operations_agree_with_a_model, }
            model { random_operations_agree_with_a_model, }
        }
    };
}

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

each_case!([dispatch] []);
