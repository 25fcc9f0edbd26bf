//! The format of rows and manifest.

use domain::ContentHash;
use library_backup::{
    BlobCount, FileSum, Hex, LostBlob, Manifest, Record, RowsReader, RowsWriter, TableSum, sum_tables,
};
use proptest::{collection::vec, option, prelude::*};
use storage::{CopiedColumns, CopiedRow, Value};

fn columns() -> CopiedColumns {
    CopiedColumns { names: vec!["a", "b", "c"], key: 1 }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_filter("NaN differs from itself", |it| !it.is_nan()).prop_map(Value::Real),
        any::<bool>().prop_map(Value::Boolean),
        any::<String>().prop_map(Value::Text),
        vec(any::<u8>(), 0..50).prop_map(Value::Bytes),
    ]
}

fn tables() -> impl Strategy<Value = Vec<(String, Option<i64>, Vec<Vec<Value>>)>> {
    vec(("[a-z_.]{0,20}", option::of(any::<i64>()), vec(vec(value(), 3), 0..5)), 0..4)
}

/// A table: its name, the highest id that it has assigned, and its rows.
type Table = (String, Option<i64>, Vec<Vec<Value>>);

fn written(tables: &[Table]) -> Vec<u8> {
    let mut writer = RowsWriter::new(Vec::new()).unwrap();
    for (name, highest, rows) in tables {
        writer.table(name, &columns(), *highest).unwrap();
        for values in rows {
            writer.row(&CopiedRow { key_columns: 1, values: values.clone() }).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn hash() -> impl Strategy<Value = Hex> {
    any::<[u8; 32]>().prop_map(|bytes| Hex(ContentHash::new(bytes)))
}

fn manifest() -> impl Strategy<Value = Manifest> {
    let sum = || (any::<u64>(), hash()).prop_map(|(bytes, sha256)| FileSum { bytes, sha256 });
    let count = || (any::<u64>(), any::<u64>()).prop_map(|(files, bytes)| BlobCount { files, bytes });
    let tables = vec(
        (any::<String>(), any::<u64>(), hash()).prop_map(|(name, rows, checksum)| TableSum {
            name,
            rows,
            checksum,
        }),
        0..4,
    );
    let lost = vec(
        (any::<bool>(), hash()).prop_map(|(is_original, sha256)| LostBlob {
            kind: if is_original { domain::BlobKind::Original } else { domain::BlobKind::Rendition },
            sha256,
        }),
        0..3,
    );
    (any::<String>(), "[a-zA-Z0-9_-]{1,64}", any::<String>(), sum(), sum(), tables, count(), count(), lost)
        .prop_map(|(program, id, taken_at, rows, secret, tables, originals, renditions, lost)| Manifest {
            format: 1,
            program,
            id,
            taken_at,
            migrations: vec!["one".to_owned()],
            rows,
            secret,
            tables,
            originals,
            renditions,
            lost,
            checksum: Hex(ContentHash::new([0; 32])),
        })
}

proptest! {
    #[test]
    fn rows_are_read_as_they_were_written(tables in tables()) {
        let bytes = written(&tables);
        let mut reader = RowsReader::new(bytes.as_slice()).unwrap();
        let mut read: Vec<(String, Option<i64>, Vec<Vec<Value>>)> = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            match record {
                Record::Table(header) => {
                    prop_assert_eq!((header.columns.len(), header.key), (3, 1));
                    read.push((header.name, header.highest_id, Vec::new()));
                }
                Record::Row(row) => read.last_mut().unwrap().2.push(row.values),
            }
        }
        prop_assert_eq!(read, tables);
        // A file that was cut off is an error.
        for cut in 0..bytes.len() {
            prop_assert!(sum_tables(&bytes[..cut]).1.is_err());
        }
    }

    #[test]
    fn arbitrary_bytes_are_rows_or_an_error(mut bytes in vec(any::<u8>(), 0..300), valid in any::<bool>()) {
        if valid {
            bytes.splice(0..0, b"photo library rows 1\n".iter().copied());
        }
        let _ = sum_tables(bytes.as_slice());
        let _ = Manifest::parse(&bytes);
    }

    #[test]
    fn a_changed_byte_changes_the_sums(tables in tables(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let bytes = written(&tables);
        let (expected, _) = sum_tables(bytes.as_slice());
        let mut changed = bytes.clone();
        let at = at.index(bytes.len());
        changed[at] ^= 1_u8 << bit;
        let (sums, read) = sum_tables(changed.as_slice());
        // The checksum ignores only the sign of zero.
        prop_assert!(read.is_err() || sums != expected || changed[at] & 0x7f == 0);
    }

    #[test]
    fn manifests_are_read_as_they_were_written(manifest in manifest(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let json = manifest.to_json().unwrap();
        let read = Manifest::parse(&json).unwrap();
        prop_assert_eq!(&Manifest { checksum: manifest.checksum, ..read.clone() }, &manifest);
        let mut changed = json.clone();
        changed[at.index(json.len())] ^= 1_u8 << bit;
        if let Ok(other) = Manifest::parse(&changed) {
            prop_assert_eq!(other, read, "white space and escapes may change");
        }
    }
}

#[test]
fn manifests_of_other_formats_and_with_paths_are_refused() {
    let refused = |json: &str, words: &str| {
        let error = Manifest::parse(json.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("{}", "missing field `format`");
    refused(r#"{"format":2}"#, "use a newer version");
    refused(r#"{"format":1,"format":1}"#, "duplicate field");
    let sum = r#"{"bytes":0,"sha256":"0000000000000000000000000000000000000000000000000000000000000000"}"#;
    let manifest = |id: &str| {
        format!(
            r#"{{"format":1,"program":"","id":"{id}","taken_at":"","migrations":[],"rows":{sum},"secret":{sum},
            "tables":[],"originals":{{"files":0,"bytes":0}},"renditions":{{"files":0,"bytes":0}},"lost":[],
            "checksum":"0000000000000000000000000000000000000000000000000000000000000000"}}"#
        )
    };
    for id in ["", "../../etc/passwd", "a/b", "ü"] {
        refused(&manifest(id), "the id is invalid");
    }
    refused(&manifest("one"), "its checksum differs");
}
