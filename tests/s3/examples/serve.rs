//! Serves a folder as S3 until standard input ends: `serve FOLDER PORT`. Prints the URL when it is ready.
//!
//! The bucket is `photos`, the key `test-key` with the secret `test-secret`.

use std::{
    io::{self, Read as _},
    path::PathBuf,
};

use s3_test_server::S3Server;

#[tokio::main]
async fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("usage: serve FOLDER PORT"));
    };
    let port = port.parse().map_err(io::Error::other)?;
    let server = S3Server::start_on(&PathBuf::from(folder), port).await?;
    println!("{}", server.url());
    let ended = tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new()));
    ended.await.map_err(io::Error::other)??;
    server.stop().await;
    Ok(())
}
