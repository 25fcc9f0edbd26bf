//! XMP packets for tests.

const PREFIXES: &str = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' \
    xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:exif='http://ns.adobe.com/exif/1.0/' \
    xmlns:exifEX='http://cipa.jp/exif/1.0/' xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/' \
    xmlns:tiff='http://ns.adobe.com/tiff/1.0/' xmlns:xmp='http://ns.adobe.com/xap/1.0/' \
    xmlns:xmpMM='http://ns.adobe.com/xap/1.0/mm/'";

/// A packet with these attributes.
pub(in crate::metadata) fn packet_of(attributes: &str) -> String {
    packet(&format!("<rdf:Description rdf:about='' {attributes}/>"))
}

/// A packet with these nodes in its RDF.
pub(in crate::metadata) fn packet(nodes: &str) -> String {
    format!(
        "<?xpacket begin='\u{FEFF}' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>\
         <rdf:RDF {PREFIXES}>{nodes}</rdf:RDF></x:xmpmeta>\n\n<?xpacket end='w'?>"
    )
}
