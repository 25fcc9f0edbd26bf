//! Movies that are put together here. `tests/fuzz/corpus/movie` has files that programs wrote.

use domain::{PixelSize, Position};
use jiff::civil::datetime;
use proptest::prelude::*;

use super::*;

fn read(file: &[u8]) -> Movie {
    let mut source = file;
    read_movie(&mut source).unwrap()
}

fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(body.len() + 8).unwrap();
    [&size.to_be_bytes(), kind, body].concat()
}

/// A box with a version, flags, and 32-bit numbers.
fn full(kind: &[u8; 4], version_and_flags: u32, words: &[u32]) -> Vec<u8> {
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    boxed(kind, &[&version_and_flags.to_be_bytes()[..], &words].concat())
}

fn ftyp(brand: &[u8; 4]) -> Vec<u8> {
    boxed(b"ftyp", &[&brand[..], &[0; 4], brand].concat())
}

/// Seconds since 1904 of 2023-08-12T13:21:03Z.
const CREATED: u32 = 2_082_844_800 + 1_691_846_463;
const PLAIN: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
const TURNED: [u32; 9] = [0, 0x1_0000, 0, 0xFFFF_0000, 0, 0, 0, 0, 0x4000_0000];

/// A track with a sample description.
fn track(id: u32, handler: &[u8; 4], codec: &[u8; 4], side: [u16; 2], matrix: [u32; 9]) -> Vec<u8> {
    let [width, height] = side;
    let mut header = vec![CREATED, CREATED, id, 0, 3000, 0, 0, 0, 0];
    header.extend(matrix);
    header.extend([u32::from(width) << 16, u32::from(height) << 16]);
    let mut entry = vec![0; 24];
    entry.extend([width, height].iter().flat_map(|side| side.to_be_bytes()));
    entry.extend([0; 50]);
    let description = [&[0, 0, 0, 0, 0, 0, 0, 1][..], &boxed(codec, &entry)].concat();
    let media = [
        full(b"mdhd", 0, &[CREATED, CREATED, 90_000, 270_000, 0]),
        boxed(b"hdlr", &[&[0; 8][..], handler, &[0; 13]].concat()),
        boxed(b"minf", &boxed(b"stbl", &boxed(b"stsd", &description))),
    ];
    boxed(b"trak", &[full(b"tkhd", 1, &header), boxed(b"mdia", &media.concat())].concat())
}

fn movie_header(duration: u32) -> Vec<u8> {
    full(b"mvhd", 0, &[CREATED, CREATED, 1000, duration, 0x1_0000])
}

fn phone(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut moov = vec![
        movie_header(3000),
        track(1, b"vide", b"hvc1", [1920, 1080], TURNED),
        track(2, b"soun", b"mp4a", [0, 0], PLAIN),
    ];
    moov.extend_from_slice(parts);
    [ftyp(b"qt  "), boxed(b"mdat", &[7; 100]), boxed(b"moov", &moov.concat())].concat()
}

fn keys(values: &[(&str, &str)]) -> Vec<u8> {
    let mut names = vec![0; 4];
    names.extend(u32::try_from(values.len()).unwrap().to_be_bytes());
    let mut items = Vec::new();
    for (number, (key, value)) in (1_u32..).zip(values) {
        names.extend(boxed(b"mdta", key.as_bytes()));
        let data = boxed(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0][..], value.as_bytes()].concat());
        items.extend(boxed(&number.to_be_bytes(), &data));
    }
    let handler = boxed(b"hdlr", &[&[0; 8][..], b"mdta", &[0; 13]].concat());
    boxed(b"meta", &[handler, boxed(b"keys", &names), boxed(b"ilst", &items)].concat())
}

#[test]
fn the_movie_of_a_phone_is_read() {
    let apple = keys(&[
        ("com.apple.quicktime.make", "Apple"),
        ("com.apple.quicktime.model", "iPhone 14"),
        ("com.apple.quicktime.location.ISO6709", "+48.8577-002.2950+035.000/"),
        ("com.apple.quicktime.creationdate", "2023-08-12T15:21:03+0200"),
        ("com.apple.quicktime.content.identifier", "ABC-1"),
    ]);
    let expected = Movie {
        duration_ms: Some(3000),
        size: Some(PixelSize { width: 1080, height: 1920 }),
        video: Some(VideoCodec::Hevc),
        audio: Some(AudioCodec::Aac),
        created: Some(Created::Wall { at: datetime(2023, 8, 12, 15, 21, 3, 0), offset_minutes: Some(120) }),
        position: Position::new(48.8577, -2.295).ok(),
        camera_make: Some("Apple".to_owned()),
        camera_model: Some("iPhone 14".to_owned()),
        content_identifier: Some("ABC-1".to_owned()),
        ..Movie::default()
    };
    assert_eq!(read(&phone(&[apple])), expected);
}

#[test]
fn texts_of_android_and_3gpp_are_read() {
    let text = |kind: &[u8; 4], text: &str| {
        let length = u16::try_from(text.len()).unwrap().to_be_bytes();
        boxed(kind, &[&length[..], &[0x15, 0xC7], text.as_bytes()].concat())
    };
    let user = [text(b"\xA9xyz", "+12.5000+100.2500/"), text(b"\xA9mod", "Pixel 8"), vec![0; 4]];
    let movie = read(&phone(&[boxed(b"udta", &user.concat())]));
    let moment = Timestamp::parse_iso("2023-08-12T13:21:03Z").unwrap();
    assert_eq!(movie.created, Some(Created::Moment(moment)));
    assert_eq!(movie.position, Position::new(12.5, 100.25).ok());
    assert_eq!(movie.camera_model.as_deref(), Some("Pixel 8"));

    let mut place = vec![0, 0, 0, 0, 0x15, 0xC7];
    place.extend(b"Home\0\0");
    for degrees in [-9.5_f64, 38.75, 0.0] {
        #[expect(clippy::cast_possible_truncation, reason = "fits")]
        place.extend(((degrees * 65_536.0) as i32).to_be_bytes());
    }
    let movie = read(&phone(&[boxed(b"udta", &boxed(b"loci", &place))]));
    assert_eq!(movie.position, Position::new(38.75, -9.5).ok());
}

#[test]
fn a_file_in_fragments_ends_with_its_last_one() {
    let defaults = full(b"trex", 0, &[1, 1, 3000, 0, 0]);
    let moov = [movie_header(0), track(1, b"vide", b"avc1", [640, 360], PLAIN), boxed(b"mvex", &defaults)];
    let fragment = |start: u32, run: Vec<u8>| {
        let parts = [full(b"tfhd", 0x2_0000, &[1]), full(b"tfdt", 0, &[start]), run];
        [boxed(b"moof", &boxed(b"traf", &parts.concat())), boxed(b"mdat", &[1; 50])].concat()
    };
    let file = [
        ftyp(b"iso5"),
        boxed(b"moov", &moov.concat()),
        fragment(0, full(b"trun", 0x1, &[30, 0])),
        fragment(90_000, full(b"trun", 0x300, &[2, 45_000, 9, 90_000, 9])),
    ];
    let movie = read(&file.concat());
    assert_eq!((movie.duration_ms, movie.video), (Some(2500), Some(VideoCodec::H264)));
    // The header knows better.
    let known = [&moov[..2], &[boxed(b"mvex", &full(b"mehd", 0, &[7000]))]].concat();
    let file = [ftyp(b"iso5"), boxed(b"moov", &known.concat()), fragment(0, full(b"trun", 0x1, &[30, 0]))];
    assert_eq!(read(&file.concat()).duration_ms, Some(7000));
}

#[test]
fn what_an_edit_leaves_out_at_the_start_is_not_counted() {
    let plain = track(1, b"vide", b"avc1", [640, 360], PLAIN);
    // An empty edit, then one from a tenth of a second on.
    let edits = full(b"elst", 0, &[2, 500, u32::MAX, 0x1_0000, 0, 9000, 0x1_0000]);
    let edited = boxed(b"trak", &[&plain[8..], &boxed(b"edts", &edits)].concat());
    let defaults = boxed(b"mvex", &full(b"trex", 0, &[1, 1, 3000, 0, 0]));
    let moov = boxed(b"moov", &[movie_header(0), edited, defaults].concat());
    let parts = [full(b"tfhd", 0x2_0000, &[1]), full(b"tfdt", 0, &[0]), full(b"trun", 0x1, &[30, 0])];
    let file = [ftyp(b"iso5"), moov, boxed(b"moof", &boxed(b"traf", &parts.concat()))];
    assert_eq!(read(&file.concat()).duration_ms, Some(900));
}

#[test]
fn times_that_cannot_be_true_are_left_out() {
    let created = |seconds: u64| Created::since_1904(seconds).is_some();
    // A clock that was never set; 1970 in both ways to count; seconds since 1970.
    for (seconds, is_true) in
        [(0, false), (1, false), (2_082_844_800, false), (1_691_846_463, true), (u64::MAX, false)]
    {
        assert_eq!(created(seconds), is_true, "{seconds}");
    }
}

#[test]
fn positions_of_iso_6709_are_read() {
    let at = |text| parse_iso_6709(text).map(|at| (at.latitude(), at.longitude()));
    assert_eq!(at("+48.8577+002.295/"), Some((48.8577, 2.295)));
    assert_eq!(at("-27.5+086.5640+8850/"), Some((-27.5, 86.564)));
    assert_eq!(at("+4012-07500/"), Some((40.2, -75.0)));
    assert_eq!(
        at("+401213.2-0750015.1/"),
        Some((40.0 + (12.0 + 13.2 / 60.0) / 60.0, -(75.0 + 15.1 / 60.0 / 60.0)))
    );
    for text in ["", "+", "48.8+2.2", "+4+2/", "+91.0+002.0/", "+00.0000+000.0000/", "+4é-07500/", "+48.1"] {
        assert_eq!(at(text), None, "{text}");
    }
}

/// An element of Matroska.
fn element(id: u32, body: &[u8]) -> Vec<u8> {
    let id = id.to_be_bytes();
    let start = id.iter().position(|byte| *byte > 0).unwrap();
    let size = 0x0100_0000_0000_0000 | body.len() as u64;
    [&id[start..], &size.to_be_bytes(), body].concat()
}

fn matroska(parts: &[Vec<u8>]) -> Vec<u8> {
    [element(0x1A45_DFA3, &element(0x4282, b"webm")), element(0x1853_8067, &parts.concat())].concat()
}

#[test]
fn matroska_is_read() {
    let info = [
        element(0x2A_D7B1, &1_000_000_u32.to_be_bytes()),
        element(0x4489, &2500.0_f64.to_be_bytes()),
        element(0x4461, &(713_539_263_u64 * 1_000_000_000).to_be_bytes()),
    ];
    let picture = [element(0xB0, &[0x05, 0x00]), element(0xBA, &[0x02, 0xD0])];
    let tracks = [
        element(0xAE, &[element(0x86, b"V_VP9"), element(0xE0, &picture.concat())].concat()),
        element(0xAE, &element(0x86, b"A_OPUS")),
    ];
    let tag = |name: &str, text: &str| {
        let parts = [element(0x45A3, name.as_bytes()), element(0x4487, text.as_bytes())];
        element(0x67C8, &parts.concat())
    };
    let tags = element(0x7373, &[tag("LOCATION", "+12.5+100.25/"), tag("TITLE", "x")].concat());
    let file = matroska(&[
        element(0x1549_A966, &info.concat()),
        element(0x1654_AE6B, &tracks.concat()),
        element(0x1F43_B675, &element(0xE7, &[9])),
        element(0x1254_C367, &tags),
    ]);
    let moment = Timestamp::parse_iso("2023-08-12T13:21:03Z").unwrap();
    let expected = Movie {
        duration_ms: Some(2500),
        size: Some(PixelSize { width: 1280, height: 720 }),
        video: Some(VideoCodec::Vp9),
        audio: Some(AudioCodec::Opus),
        created: Some(Created::Moment(moment)),
        position: Position::new(12.5, 100.25).ok(),
        ..Movie::default()
    };
    assert_eq!(read(&file), expected);
}

#[test]
fn a_live_recording_ends_with_its_last_cluster() {
    let open = |id: u32| [&id.to_be_bytes()[..], &[0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]].concat();
    let cluster = |time: u8| [open(0x1F43_B675), element(0xE7, &[time, 0]), element(0xA3, &[1; 9])].concat();
    let head = element(0x1A45_DFA3, b"");
    let file = [head, open(0x1853_8067), cluster(1), cluster(2)].concat();
    assert_eq!(read(&file).duration_ms, Some(512));
}

fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut chunk = [&kind[..], &u32::try_from(body.len()).unwrap().to_le_bytes(), body].concat();
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

fn list(kind: &[u8; 4], chunks: &[Vec<u8>]) -> Vec<u8> {
    chunk(b"LIST", &[&kind[..], &chunks.concat()].concat())
}

#[test]
fn avi_is_read() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let header = words(&[40_000, 0, 0, 0, 50, 0, 2, 0, 640, 480]);
    let stream = |kind: &[u8; 4]| [&kind[..], &words(&[0, 0, 0, 0, 1, 25, 0, 75])].concat();
    let pictures = [&words(&[40, 640, 480, 0])[..], b"MJPG"].concat();
    let headers = list(
        b"hdrl",
        &[
            chunk(b"avih", &header),
            list(b"strl", &[chunk(b"strh", &stream(b"vids")), chunk(b"strf", &pictures)]),
            list(b"strl", &[chunk(b"strh", &stream(b"auds")), chunk(b"strf", &words(&[0x0002_0001]))]),
            chunk(b"IDIT", b"Sun Aug 31 12:15:22 2008\n\0"),
        ],
    );
    let body = [&b"AVI "[..], &headers, &list(b"movi", &[chunk(b"00dc", &[0; 99])])].concat();
    let expected = Movie {
        duration_ms: Some(3000),
        size: Some(PixelSize { width: 640, height: 480 }),
        video: Some(VideoCodec::MotionJpeg),
        audio: Some(AudioCodec::Pcm),
        created: Some(Created::Wall { at: datetime(2008, 8, 31, 12, 15, 22, 0), offset_minutes: None }),
        ..Movie::default()
    };
    assert_eq!(read(&chunk(b"RIFF", &body)), expected);
}

#[test]
fn a_file_that_is_cut_off_gives_what_it_has() {
    let file = phone(&[keys(&[("com.apple.quicktime.make", "Apple")])]);
    for end in 16..file.len() {
        let movie = read(&file[..end]);
        assert!(movie.camera_make.is_none());
    }
    // Everything but the metadata at the end.
    let movie = read(&file[..file.len() - 40]);
    assert_eq!((movie.duration_ms, movie.video), (Some(3000), Some(VideoCodec::Hevc)));
}

#[test]
fn other_files_are_no_movies() {
    for other in
        [&b""[..], b"\xFF\xD8\xFF\xE0", b"RIFF\0\0\0\0WEBPVP8 ", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"]
    {
        let mut source = other;
        assert!(matches!(read_movie(&mut source), Err(MovieError::UnknownFormat)), "{other:?}");
    }
}

#[test]
fn a_source_that_fails_is_no_broken_movie() {
    struct Failing(Vec<u8>);
    impl MovieSource for Failing {
        fn size(&self) -> u64 {
            1 << 40
        }
        fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
            if offset > 0 { Err(io::Error::other("gone")) } else { self.0.as_slice().read(0, length) }
        }
    }
    let file = [ftyp(b"isom"), [&[0, 0, 0, 1][..], b"mdat", &(1_u64 << 39).to_be_bytes()].concat()].concat();
    assert!(matches!(read_movie(&mut Failing(file)), Err(MovieError::Source(_))));
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_an_end(
        start in prop::sample::select(vec![
            &b"\0\0\0\x10ftypqt  qt  "[..],
            b"\x1A\x45\xDF\xA3\x80\x18\x53\x80\x67\xFF",
            b"RIFF\xFF\0\0\0AVI LIST\xF0\0\0\0hdrl",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let file = [start, &rest].concat();
        let mut source = file.as_slice();
        if let Ok(movie) = read_movie(&mut source) {
            prop_assert!(movie.size.is_none_or(|size| size.width > 0 && size.height > 0));
        }
    }
}
