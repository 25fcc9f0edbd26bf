//! Checksums that clients send with files.

use super::{Client, jpeg, sha1, step};

/// Headers with right checksums of `hello`.
const RIGHT: [(&str, &str); 14] = [
    ("OC-Checksum", "SHA1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"),
    ("OC-Checksum", "sha1:AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D"),
    ("OC-Checksum", "SHA256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
    ("OC-Checksum", "SHA3-256:3338be694f50c5f338814986cdf0686453a888b84f424d792af4b9202398f392"),
    ("OC-Checksum", "MD5:5d41402abc4b2a76b9719d911017c592"),
    ("OC-Checksum", "Adler32:62c0215"),
    ("OC-Checksum", "  MD5:5d41402abc4b2a76b9719d911017c592  ADLER32:062c0215 "),
    ("OC-Checksum", "XXHASH:00 MD5:5d41402abc4b2a76b9719d911017c592"),
    ("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="),
    ("Digest", "SHA-256=LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="),
    ("Digest", "MD5=XUFAKrxLKna5cZ2REBfFkg==,ADLER32=062c0215,unixsum=1"),
    ("Digest", "sha=qvTGHdzF6KLavt4PO0gs2a6pQ00="),
    ("Content-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"),
    ("Repr-Digest", "md5=:XUFAKrxLKna5cZ2REBfFkg==:, adler=:BiwCFQ==:"),
];

/// Headers with malformed or wrong checksums.
const WRONG: [(&str, &str); 12] = [
    ("OC-Checksum", "SHA1:0000000000000000000000000000000000000000"),
    ("OC-Checksum", "MD5:00000000000000000000000000000000"),
    ("OC-Checksum", "ADLER32:00000000"),
    ("OC-Checksum", "adler32:2"),
    ("OC-Checksum", "SHA3-256:0000000000000000000000000000000000000000000000000000000000000000"),
    ("OC-Checksum", "MD5:xyz"),
    ("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ("Digest", "MD5=AAAAAAAAAAAAAAAAAAAAAA=="),
    ("Digest", "unixsum=1, sha-256=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("Content-Digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:"),
    ("Repr-Digest", "sha=:AAAAAAAAAAAAAAAAAAAAAAAAAAA=:"),
    ("Repr-Digest", "sha=AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_file_must_match_every_checksum_that_is_sent() {
    let mut client = Client::start().await;
    for (number, (header, value)) in RIGHT.into_iter().enumerate() {
        let status = if number == 0 { 201 } else { 204 };
        client.run(step("PUT /dav/.DS_Store", status).with(header, value).body("hello")).await;
        client.run(step("PUT /dav/.DS_Store", 400).with(header, value).body("hellp")).await;
    }
    // One of several checksums is wrong, in one header or in two.
    let (md5, wrong) = ("MD5:5d41402abc4b2a76b9719d911017c592", "ADLER32:00000001");
    let file = || step("PUT /dav/.DS_Store", 400).body("hello");
    client.run(file().with("OC-Checksum", format!("{md5} {wrong}"))).await;
    client.run(file().with("OC-Checksum", md5).with("OC-Checksum", wrong)).await;
    client.run(file().with("OC-Checksum", md5).with("Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==")).await;
    for (header, value) in WRONG {
        for path in ["/dav/x.jpg", "/dav/x.xmp", "/dav/Thumbs.db", "/dav/x.part"] {
            client.run(step("PUT ", 400).at(path).with(header, value).body(jpeg(1))).await;
            client.run(step("HEAD ", 404).at(path)).await;
        }
        client.run(step("PUT /dav/empty.jpg", 400).with(header, value).body("")).await;
    }
    assert_eq!(client.images().await, 0);
    client.run(step("PUT /dav/x.jpg", 201).with("OC-Checksum", "UNKNOWN:1").body(jpeg(1))).await;
    client.run(step("PUT /dav/y.jpg", 201).with("OC-Checksum", sha1(&jpeg(2))).body(jpeg(2))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_and_the_whole_file_have_checksums() {
    let mut client = Client::start().await;
    let photo = jpeg(3);
    let (first, second) = photo.split_at(300);
    client.run(step("MKCOL /remote.php/dav/uploads/{id}/a", 201)).await;
    for (header, value) in WRONG {
        client.run(step("PUT /remote.php/dav/uploads/{id}/a/1", 400).with(header, value).body(first)).await;
    }
    let assemble = |status| {
        step("MOVE /remote.php/dav/uploads/{id}/a/.file", status)
            .with("Destination", "/remote.php/webdav/x.jpg")
    };
    client
        .replay([
            step("PUT /remote.php/dav/uploads/{id}/a/1", 201).with("OC-Checksum", sha1(first)).body(first),
            step("PUT /remote.php/dav/uploads/{id}/a/2", 201).body(second),
            assemble(400).with("OC-Checksum", "MD5:00000000000000000000000000000000"),
            assemble(400).with("OC-Checksum", "ADLER32:1"),
            assemble(400).with("OC-Checksum", format!("{} ADLER32:1", sha1(&photo))),
            step("HEAD /remote.php/webdav/x.jpg", 404),
            // `Content-MD5` describes the empty body of this request, `OC-Checksum` the assembled file.
            assemble(201).with("OC-Checksum", sha1(&photo)).with("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
        ])
        .await;
}
