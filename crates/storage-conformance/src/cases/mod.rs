pub(crate) mod accounts;
pub(crate) mod album_orders;
pub(crate) mod albums;
pub(crate) mod api_keys;
pub(crate) mod blobs;
pub(crate) mod cameras;
pub(crate) mod capture_times;
pub(crate) mod circles;
pub(crate) mod concurrency;
pub(crate) mod edits;
pub(crate) mod exports;
pub(crate) mod file_images;
pub(crate) mod file_locks;
pub(crate) mod file_model;
pub(crate) mod file_moves;
pub(crate) mod file_quota;
pub(crate) mod file_removal;
pub(crate) mod full_renditions;
pub(crate) mod grants;
pub(crate) mod import;
pub(crate) mod integrity;
pub(crate) mod login_flows;
pub(crate) mod lookups;
pub(crate) mod map;
pub(crate) mod marks;
pub(crate) mod model;
pub(crate) mod paging;
pub(crate) mod problems;
pub(crate) mod purge;
pub(crate) mod queue;
pub(crate) mod races;
pub(crate) mod recent_files;
pub(crate) mod regions;
pub(crate) mod reindex;
pub(crate) mod renditions;
pub(crate) mod roles;
pub(crate) mod security_events;
pub(crate) mod selections;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod sidecars;
pub(crate) mod sign_in;
pub(crate) mod signing_keys;
pub(crate) mod stages;
pub(crate) mod synced_files;
pub(crate) mod text;
pub(crate) mod timeline;
pub(crate) mod trash;
pub(crate) mod uploads;
pub(crate) mod vectors;
pub(crate) mod watched_files;
pub(crate) mod window;
pub(crate) mod words;
pub(crate) mod workers;

/// Runs tasks concurrently and returns their outcomes.
pub(crate) async fn concurrently<T, F>(tasks: impl Iterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = tasks.map(tokio::spawn).collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}
