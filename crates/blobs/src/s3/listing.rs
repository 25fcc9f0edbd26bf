//! Parses the response of ListMultipartUploads.
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html>

use std::time::SystemTime;

use domain::Timestamp;
use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesRef, Event},
};

/// The most uploads that a server lists at once.
const MAX_UPLOADS: usize = 1000;
/// A key has at most 1,024 bytes, and no value of a listing is much longer.
const MAX_VALUE_BYTES: usize = 4096;

/// A page of the uploads that are not complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadsPage {
    /// The uploads, at most 1,000.
    pub uploads: Vec<ListedUpload>,
    /// The key and id after which the next page begins, if there is one.
    pub next: Option<(String, String)>,
}

/// An upload that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedUpload {
    /// The key that it writes.
    pub key: String,
    pub id: String,
    pub began: SystemTime,
}

/// The response is no listing of uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the S3 server sent no valid list of incomplete uploads")]
pub struct InvalidListing;

#[derive(Default)]
struct Fields {
    key: Option<String>,
    id: Option<String>,
    began: Option<SystemTime>,
}

impl UploadsPage {
    /// Parses a response. Unknown elements are skipped.
    pub fn parse(xml: &str) -> Result<Self, InvalidListing> {
        let mut parser = Parser::default();
        let mut reader = Reader::from_str(xml);
        loop {
            match reader.read_event().map_err(|_| InvalidListing)? {
                Event::Start(tag) => parser.open(tag.local_name().as_ref())?,
                Event::Text(text) => parser.text(&text.xml10_content())?,
                Event::CData(text) => parser.text(&text.xml10_content())?,
                Event::GeneralRef(reference) => parser.reference(&reference)?,
                Event::End(_) => parser.close()?,
                Event::DocType(_) => return Err(InvalidListing),
                Event::Eof => return parser.finish(),
                Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }
}

/// The names of the open elements, and what was read so far.
#[derive(Default)]
struct Parser {
    path: Vec<String>,
    value: String,
    fields: Fields,
    is_truncated: bool,
    next_key: String,
    next_id: String,
    page: UploadsPage,
    is_listing: bool,
}

impl Parser {
    fn open(&mut self, name: &str) -> Result<(), InvalidListing> {
        self.value.clear();
        match self.path.len() {
            0 if name == "ListMultipartUploadsResult" => self.is_listing = true,
            0 => return Err(InvalidListing),
            1 if name == "Upload" => self.fields = Fields::default(),
            // A listing has three levels; owners of uploads are one more.
            8.. => return Err(InvalidListing),
            _ => {}
        }
        self.path.push(name.to_owned());
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), InvalidListing> {
        if self.value.len().saturating_add(text.len()) > MAX_VALUE_BYTES {
            return Err(InvalidListing);
        }
        self.value.push_str(text);
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), InvalidListing> {
        let mut letter = [0; 4];
        match reference.resolve_char_ref().map_err(|_| InvalidListing)? {
            Some(found) => self.text(found.encode_utf8(&mut letter)),
            None => self.text(resolve_predefined_entity(reference).ok_or(InvalidListing)?),
        }
    }

    fn close(&mut self) -> Result<(), InvalidListing> {
        let value = std::mem::take(&mut self.value);
        let path: Vec<&str> = self.path.iter().skip(1).map(String::as_str).collect();
        match path.as_slice() {
            ["IsTruncated"] => self.is_truncated = value.trim() == "true",
            ["NextKeyMarker"] => self.next_key = value,
            ["NextUploadIdMarker"] => self.next_id = value,
            ["Upload", "Key"] => self.fields.key = Some(value),
            ["Upload", "UploadId"] => self.fields.id = Some(value),
            ["Upload", "Initiated"] => self.fields.began = time(value.trim()),
            ["Upload"] => self.add_upload()?,
            _ => {}
        }
        self.path.pop();
        Ok(())
    }

    fn add_upload(&mut self) -> Result<(), InvalidListing> {
        let Fields { key: Some(key), id: Some(id), began: Some(began) } = std::mem::take(&mut self.fields)
        else {
            return Err(InvalidListing);
        };
        if self.page.uploads.len() >= MAX_UPLOADS {
            return Err(InvalidListing);
        }
        self.page.uploads.push(ListedUpload { key, id, began });
        Ok(())
    }

    fn finish(mut self) -> Result<UploadsPage, InvalidListing> {
        if !self.is_listing || !self.path.is_empty() {
            return Err(InvalidListing);
        }
        if self.is_truncated && !self.next_key.is_empty() {
            self.page.next = Some((self.next_key, self.next_id));
        }
        Ok(self.page)
    }
}

fn time(text: &str) -> Option<SystemTime> {
    let millis = Timestamp::parse_iso(text).ok()?.millis();
    let since = std::time::Duration::from_millis(u64::try_from(millis).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Bucket>photos</Bucket><KeyMarker/><NextKeyMarker>o/b&amp;c</NextKeyMarker>
  <NextUploadIdMarker>id2</NextUploadIdMarker><IsTruncated>true</IsTruncated>
  <Upload><Key>o/a</Key><UploadId>id1</UploadId><Initiator><ID>x</ID></Initiator>
    <Owner><ID>x</ID></Owner><StorageClass>STANDARD</StorageClass>
    <Initiated>2010-11-10T20:48:33.000Z</Initiated></Upload>
  <Upload><Key>o/b&#38;c</Key><UploadId>id2</UploadId><Initiated>1970-01-01T00:00:01Z</Initiated></Upload>
</ListMultipartUploadsResult>"#;

    #[test]
    fn a_page_has_uploads_and_the_start_of_the_next_page() {
        let upload = |key: &str, id: &str, seconds| ListedUpload {
            key: key.to_owned(),
            id: id.to_owned(),
            began: UNIX_EPOCH + Duration::from_secs(seconds),
        };
        let page = UploadsPage::parse(PAGE).unwrap();
        assert_eq!(page.uploads, [upload("o/a", "id1", 1_289_422_113), upload("o/b&c", "id2", 1)]);
        assert_eq!(page.next, Some(("o/b&c".to_owned(), "id2".to_owned())));
        let empty =
            "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>";
        assert_eq!(UploadsPage::parse(empty), Ok(UploadsPage::default()));
    }

    #[test]
    fn other_documents_are_refused() {
        for xml in [
            "",
            "no XML",
            "<html></html>",
            "<Error><Code>NotImplemented</Code></Error>",
            "<ListMultipartUploadsResult>",
            "<ListMultipartUploadsResult><Upload><Key>a</Key></Upload></ListMultipartUploadsResult>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><ListMultipartUploadsResult/>",
            "<ListMultipartUploadsResult><Bucket>&x;</Bucket></ListMultipartUploadsResult>",
        ] {
            assert_eq!(UploadsPage::parse(xml), Err(InvalidListing), "{xml}");
        }
    }

    proptest! {
        #[test]
        fn no_document_panics(at in 0..PAGE.len(), with in "[<>/&;a-zA-Z]{0,12}", cut in 0..40_usize) {
            let start: String = PAGE.chars().take(at).collect();
            let end: String = PAGE.chars().skip(at.saturating_add(cut)).collect();
            let _ = UploadsPage::parse(&format!("{start}{with}{end}"));
        }
    }
}
