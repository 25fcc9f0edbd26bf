use std::{
    fmt,
    path::{Path, PathBuf},
};

use blobs::{BlobError, BlobStore, S3Credentials, S3Endpoint, S3Options};

use super::{
    Environment, StoreOptions, Switch,
    store_url::{BlobUrl, StoreUrlError},
};

/// Variables that other programs use for the server and the region, the most specific first.
const ENDPOINT_VARIABLES: [&str; 2] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
const REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// Where originals and renditions are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlobLocation {
    Folder(PathBuf),
    /// In an S3 bucket. The folder has staged uploads and lock files.
    S3 {
        options: Box<S3Options>,
        folder: PathBuf,
    },
}

impl BlobLocation {
    /// Resolves the settings, and for a bucket the variables of AWS.
    pub(super) fn resolve(
        settings: &StoreOptions,
        data_dir: &Path,
        environment: &Environment,
    ) -> Result<Self, StoreUrlError> {
        let folder = data_dir.join("blobs");
        let location = match settings.blob_url.as_deref().map(BlobUrl::parse).transpose()? {
            None | Some(BlobUrl::Folder(None)) => return Ok(Self::Folder(folder)),
            Some(BlobUrl::Folder(Some(folder))) => return Ok(Self::Folder(folder)),
            Some(BlobUrl::Bucket(location)) => location,
        };
        let credentials = S3Credentials::from_variables(|name| environment.aws(name));
        let mut options = S3Options::new(location, credentials);
        options.endpoint = endpoint(settings, environment)?;
        let region = || REGION_VARIABLES.iter().find_map(|name| environment.aws(name)).map(str::to_owned);
        options.region = settings.s3_region.clone().or_else(region);
        options.path_style = settings.s3_path_style.map(|switch| switch == Switch::On);
        Ok(Self::S3 { options: Box::new(options), folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::Folder(folder) | Self::S3 { folder, .. } => folder,
        }
    }

    /// Whether the photos are in a bucket.
    pub(crate) const fn is_remote(&self) -> bool {
        matches!(self, Self::S3 { .. })
    }

    /// Opens the store. It may wait for a process that holds the cleanup lock.
    pub(crate) async fn open(&self) -> Result<BlobStore, BlobError> {
        self.open_with(self.folder().to_owned()).await
    }

    /// Opens the store with another local folder.
    pub(crate) async fn open_with(&self, folder: PathBuf) -> Result<BlobStore, BlobError> {
        let location = self.clone();
        let opened = tokio::task::spawn_blocking(move || match location {
            Self::Folder(_) => BlobStore::open_folder(&folder),
            Self::S3 { options, .. } => BlobStore::open_s3(&options, &folder),
        });
        opened.await?
    }
}

impl fmt::Display for BlobLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::S3 { options, .. } => write!(f, "{options}"),
        }
    }
}

fn endpoint(settings: &StoreOptions, environment: &Environment) -> Result<Option<S3Endpoint>, StoreUrlError> {
    let from_variable = |name: &'static str| Some((name, environment.aws(name)?));
    let flag = settings.s3_endpoint.as_deref().map(|url| ("s3-endpoint", url));
    let Some((setting, url)) = flag.or_else(|| ENDPOINT_VARIABLES.into_iter().find_map(from_variable)) else {
        return Ok(None);
    };
    url.parse().map(Some).map_err(|reason| StoreUrlError::Endpoint { setting, reason })
}
