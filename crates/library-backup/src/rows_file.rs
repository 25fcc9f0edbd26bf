//! The file with the rows of all tables.
//!
//! It begins with a line that names the format. Records follow, each with a tag:
//!
//! - `T`: a table with its name, the names of its columns, the number of key columns, and the highest id
//! - `R`: a row of the table, the values in their [canonical form](storage::Value::write_canonical)
//! - `E`: the end of the file
//!
//! Numbers are little-endian.

use std::io::{self, BufRead, Read, Write};

use domain::ContentHash;
use library_copy::chain_checksum;
use storage::{CopiedColumns, CopiedRow, Value};

use crate::{Hex, TableSum};

const MAGIC: &[u8] = b"photo library rows 1\n";
/// The longest name and the most columns. More is damage.
const MAX_NAME_BYTES: usize = 200;
const MAX_COLUMNS: usize = 500;
/// The longest value. Stores have no longer ones.
const MAX_VALUE_BYTES: u64 = 1 << 30;

/// Why rows cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is damaged or incomplete.
    #[error("it is damaged in the table {table}: {reason}")]
    Damaged {
        /// The table, or what comes before the first one.
        table: String,
        /// What is wrong.
        reason: &'static str,
    },
}

/// The beginning of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableHeader {
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// How many of them are the key.
    pub key: usize,
    /// The highest id that was ever given to a row.
    pub highest_id: Option<i64>,
}

/// A record of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A table begins.
    Table(TableHeader),
    /// A row of the table.
    Row(CopiedRow),
}

/// Writes tables.
#[derive(Debug)]
pub struct RowsWriter<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> RowsWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The output failed.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, buffer: Vec::new() })
    }

    /// Begins a table.
    ///
    /// # Errors
    /// The output failed, or a name is too long.
    pub fn table(&mut self, name: &str, columns: &CopiedColumns, highest_id: Option<i64>) -> io::Result<()> {
        let buffer = &mut self.buffer;
        buffer.clear();
        buffer.push(b'T');
        push_name(buffer, name)?;
        push_number(buffer, columns.names.len(), MAX_COLUMNS)?;
        for column in &columns.names {
            push_name(buffer, column)?;
        }
        push_number(buffer, columns.key, columns.names.len())?;
        buffer.push(u8::from(highest_id.is_some()));
        buffer.extend(highest_id.unwrap_or_default().to_le_bytes());
        self.out.write_all(buffer)
    }

    /// Adds a row to the table.
    ///
    /// # Errors
    /// The output failed.
    pub fn row(&mut self, row: &CopiedRow) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.push(b'R');
        row.write_canonical(&mut self.buffer);
        self.out.write_all(&self.buffer)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The output failed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"E")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn push_number(buffer: &mut Vec<u8>, number: usize, max: usize) -> io::Result<()> {
    let number = u16::try_from(number).ok().filter(|_| number <= max);
    let number = number.ok_or_else(|| io::Error::other("a table is too wide for a backup"))?;
    buffer.extend(number.to_le_bytes());
    Ok(())
}

fn push_name(buffer: &mut Vec<u8>, name: &str) -> io::Result<()> {
    push_number(buffer, name.len(), MAX_NAME_BYTES)?;
    buffer.extend(name.as_bytes());
    Ok(())
}

/// Reads tables.
#[derive(Debug)]
pub struct RowsReader<R> {
    input: R,
    table: Option<TableHeader>,
    ended: bool,
}

impl<R: BufRead> RowsReader<R> {
    /// Opens a file.
    pub fn new(input: R) -> Result<Self, RowsError> {
        let mut reader = Self { input, table: None, ended: false };
        let magic: [u8; MAGIC.len()] = reader.array()?;
        if magic == MAGIC { Ok(reader) } else { Err(reader.damaged("it is no file with rows")) }
    }

    /// The next record; `None` at the end of the file.
    pub fn next_record(&mut self) -> Result<Option<Record>, RowsError> {
        if self.ended {
            return Ok(None);
        }
        match self.byte()? {
            b'T' => {
                let header = self.header()?;
                self.table = Some(header.clone());
                Ok(Some(Record::Table(header)))
            }
            b'R' => self.row().map(|row| Some(Record::Row(row))),
            b'E' => {
                self.ended = true;
                match self.input.fill_buf()? {
                    [] => Ok(None),
                    _ => Err(self.damaged("bytes follow the end")),
                }
            }
            _ => Err(self.damaged("an unknown record")),
        }
    }

    fn damaged(&self, reason: &'static str) -> RowsError {
        let table = self.table.as_ref().map_or_else(|| "(none)".to_owned(), |table| table.name.clone());
        RowsError::Damaged { table, reason }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RowsError> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(self.damaged("it is cut off")),
            Err(error) => Err(error.into()),
        }
    }

    fn byte(&mut self) -> Result<u8, RowsError> {
        self.array().map(|[byte]| byte)
    }

    fn number(&mut self, max: usize) -> Result<usize, RowsError> {
        let number = usize::from(u16::from_le_bytes(self.array()?));
        if number <= max { Ok(number) } else { Err(self.damaged("a number is too large")) }
    }

    fn name(&mut self) -> Result<String, RowsError> {
        let bytes = self.number(MAX_NAME_BYTES)?;
        let bytes = self.bytes(bytes as u64)?;
        String::from_utf8(bytes).map_err(|_| self.damaged("a name is not UTF-8"))
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, RowsError> {
        if length > MAX_VALUE_BYTES {
            return Err(self.damaged("a value is too long"));
        }
        // The length may be damaged, so the vector grows with the bytes that are read.
        let mut bytes = Vec::new();
        (&mut self.input).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(self.damaged("it is cut off")) }
    }

    fn header(&mut self) -> Result<TableHeader, RowsError> {
        let name = self.name()?;
        let columns = self.number(MAX_COLUMNS)?;
        let columns: Vec<String> = (0..columns).map(|_| self.name()).collect::<Result<_, _>>()?;
        let key = self.number(columns.len())?;
        let has_ids = self.flag()?;
        let highest = i64::from_le_bytes(self.array()?);
        if !has_ids && highest != 0 {
            return Err(self.damaged("a table without ids has a highest one"));
        }
        Ok(TableHeader { name, columns, key, highest_id: has_ids.then_some(highest) })
    }

    fn flag(&mut self) -> Result<bool, RowsError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged("a value is neither yes nor no")),
        }
    }

    fn row(&mut self) -> Result<CopiedRow, RowsError> {
        let Some(table) = &self.table else { return Err(self.damaged("a row is in no table")) };
        let (columns, key_columns) = (table.columns.len(), table.key);
        let values = (0..columns).map(|_| self.value()).collect::<Result<_, _>>()?;
        Ok(CopiedRow { key_columns, values })
    }

    fn value(&mut self) -> Result<Value, RowsError> {
        Ok(match self.byte()? {
            b'0' => Value::Null,
            b'i' => Value::Integer(i64::from_le_bytes(self.array()?)),
            b'r' => Value::Real(f64::from_bits(u64::from_le_bytes(self.array()?))),
            b'f' => Value::Boolean(self.flag()?),
            b't' => {
                let bytes = self.sized()?;
                Value::Text(String::from_utf8(bytes).map_err(|_| self.damaged("a text is not UTF-8"))?)
            }
            b'b' => Value::Bytes(self.sized()?),
            _ => return Err(self.damaged("an unknown type of value")),
        })
    }

    fn sized(&mut self) -> Result<Vec<u8>, RowsError> {
        let length = u64::from_le_bytes(self.array()?);
        self.bytes(length)
    }
}

/// Reads a whole file, and returns the header and the sum of each table that could be read. Blocks.
///
/// # Errors
/// A [`RowsError`] is returned together with the tables before the damage.
pub fn sum_tables(input: impl BufRead) -> (Vec<(TableHeader, TableSum)>, Result<(), RowsError>) {
    let mut tables = Vec::new();
    let read = sum_into(input, &mut tables);
    (tables, read)
}

fn sum_into(input: impl BufRead, tables: &mut Vec<(TableHeader, TableSum)>) -> Result<(), RowsError> {
    let mut reader = RowsReader::new(input)?;
    let mut buffer = Vec::new();
    while let Some(record) = reader.next_record()? {
        match record {
            Record::Table(header) => {
                let sum = TableSum::empty(&header.name);
                tables.push((header, sum));
            }
            Record::Row(row) => {
                if let Some((_, sum)) = tables.last_mut() {
                    sum.add(&row, &mut buffer);
                }
            }
        }
    }
    Ok(())
}

impl TableSum {
    pub(crate) fn empty(name: &str) -> Self {
        Self { name: name.to_owned(), rows: 0, checksum: Hex(ContentHash::new([0; 32])) }
    }

    pub(crate) fn add(&mut self, row: &CopiedRow, buffer: &mut Vec<u8>) {
        self.rows += 1;
        self.checksum = Hex(chain_checksum(self.checksum.0, row, buffer));
    }
}
