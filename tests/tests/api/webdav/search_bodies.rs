//! The searches of Nextcloud's clients, as they send them.

/// The media tab of the app for Android: the newest photos before a time in seconds (`NcSearchMethod`, gallery). `{id}` is
/// the user name.
pub(super) fn android_media(end_s: i64, limit: usize) -> String {
    format!(
        concat!(
            r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#,
            r#"<d:searchrequest xmlns:d="DAV:" xmlns:oc="http://nextcloud.com/ns"><d:basicsearch><d:select><d:prop>"#,
            r#"<nc:has-preview xmlns:nc="http://owncloud.org/ns"/><d:getcontenttype/><d:resourcetype/>"#,
            r#"<d:getcontentlength/><d:getlastmodified/><d:getetag/><oc:id xmlns:oc="http://owncloud.org/ns"/>"#,
            r#"<oc:favorite xmlns:oc="http://owncloud.org/ns"/><oc:permissions xmlns:oc="http://owncloud.org/ns"/>"#,
            r#"</d:prop></d:select><d:from><d:scope><d:href>/files/{{id}}</d:href><d:depth>infinity</d:depth></d:scope>"#,
            r#"</d:from><d:where><d:and><d:lt><d:prop><d:getlastmodified/></d:prop><d:literal>{}</d:literal></d:lt>"#,
            r#"<d:gt><d:prop><d:getlastmodified/></d:prop><d:literal>0</d:literal></d:gt>"#,
            r#"<d:or><d:like><d:prop><d:getcontenttype/></d:prop><d:literal>image/%</d:literal></d:like>"#,
            r#"<d:like><d:prop><d:getcontenttype/></d:prop><d:literal>video/%</d:literal></d:like></d:or>"#,
            r#"</d:and></d:where><d:orderby><d:order><d:prop><d:getlastmodified/></d:prop><d:descending/></d:order>"#,
            r#"</d:orderby><d:limit><d:nresults>{}</d:nresults></d:limit></d:basicsearch></d:searchrequest>"#
        ),
        end_s, limit
    )
}

/// The other searches of the app for Android: by `operator`, `property` and `literal`.
pub(super) fn android(operator: &str, property: &str, literal: &str) -> String {
    let (prefix, _) = property.split_once(':').unwrap();
    let namespace = if prefix == "oc" { r#" xmlns:oc="http://owncloud.org/ns""# } else { "" };
    format!(
        concat!(
            r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#,
            r#"<d:searchrequest xmlns:d="DAV:" xmlns:oc="http://nextcloud.com/ns"><d:basicsearch><d:select><d:prop>"#,
            r#"<d:displayname/><d:creationdate/><d:quota-used-bytes/><d:quota-available-bytes/>"#,
            r#"<oc:size xmlns:oc="http://owncloud.org/ns"/><nc:is-encrypted xmlns:nc="http://nextcloud.org/ns"/>"#,
            r#"<d:getcontenttype/><d:resourcetype/><d:getcontentlength/><d:getlastmodified/><d:getetag/>"#,
            r#"<oc:id xmlns:oc="http://owncloud.org/ns"/><oc:favorite xmlns:oc="http://owncloud.org/ns"/>"#,
            r#"<oc:permissions xmlns:oc="http://owncloud.org/ns"/></d:prop></d:select><d:from><d:scope>"#,
            r#"<d:href>/files/{{id}}</d:href><d:depth>infinity</d:depth></d:scope></d:from>"#,
            r#"<d:where><d:{op}><d:prop><{prop}{ns}/></d:prop><d:literal>{literal}</d:literal></d:{op}></d:where>"#,
            r#"<d:orderby/></d:basicsearch></d:searchrequest>"#
        ),
        op = operator,
        prop = property,
        ns = namespace,
        literal = literal
    )
}

/// The media tab of the app for iOS: the newest photos of a folder between two times (`NCMediaNetwork`).
pub(super) fn ios_media(folder: &str, newest: &str, oldest: &str, limit: usize) -> String {
    format!(
        r#"<?xml version="1.0"?>
<d:searchrequest xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
    <d:basicsearch>

    <!-- ====================================================== -->
    <!-- SELECT: return the Nextcloud internal object           -->
    <!-- ====================================================== -->

    <d:select>
        <d:prop>
            <id xmlns="http://owncloud.org/ns"/>
            <fileid xmlns="http://owncloud.org/ns"/>
            <d:getetag/>
            <d:getlastmodified />
            <upload_time xmlns="http://nextcloud.org/ns"/>
            <size xmlns="http://owncloud.org/ns"/>
            <has-preview xmlns="http://nextcloud.org/ns"/>
            <metadata-files-live-photo xmlns="http://nextcloud.org/ns"/>
        </d:prop>
    </d:select>

    <d:from>
        <d:scope>
            <d:href>/files/{{id}}{folder}</d:href>
            <d:depth>infinity</d:depth>
        </d:scope>
    </d:from>

    <d:where>
        <d:and>

            <!-- Media type filter -->
            <d:or>
                <d:like>
                    <d:prop><d:getcontenttype/></d:prop>
                    <d:literal>image/%</d:literal>
                </d:like>
                <d:like>
                    <d:prop><d:getcontenttype/></d:prop>
                    <d:literal>video/%</d:literal>
                </d:like>
            </d:or>

            <!-- Date / numeric range filter LTE / GTE -->
            <d:and>
                <d:lte>
                    <d:prop><d:getlastmodified/></d:prop>
                    <d:literal>{newest}</d:literal>
                </d:lte>
                <d:gte>
                    <d:prop><d:getlastmodified/></d:prop>
                    <d:literal>{oldest}</d:literal>
                </d:gte>
            </d:and>
        </d:and>
    </d:where>

    <d:orderby>
        <d:order>
            <d:prop><d:getlastmodified/></d:prop>
            <d:descending/>
        </d:order>
        <d:order>
            <d:prop><d:displayname/></d:prop>
            <d:descending/>
        </d:order>
    </d:orderby>

    <d:limit>
        <d:nresults>{limit}</d:nresults>
    </d:limit>

    </d:basicsearch>
</d:searchrequest>"#
    )
}

/// The search of the app for iOS for the file with an id (`getRequestBodySearchFileId`).
pub(super) fn ios_file(id: &str) -> String {
    format!(
        r#"<?xml version="1.0"?>
<d:searchrequest xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
<d:basicsearch>
    <d:select>
        <d:prop>
<d:displayname /><d:getlastmodified /><d:getetag /><d:getcontenttype /><d:resourcetype /><id xmlns="http://owncloud.org/ns"/><fileid xmlns="http://owncloud.org/ns"/>        </d:prop>
    </d:select>
    <d:from>
        <d:scope>
            <d:href>/files/{{id}}</d:href>
            <d:depth>infinity</d:depth>
        </d:scope>
    </d:from>
    <d:where>
        <d:eq>
            <d:prop><oc:fileid xmlns:oc="http://owncloud.org/ns"/></d:prop>
            <d:literal>{id}</d:literal>
        </d:eq>
    </d:where>
</d:basicsearch>
</d:searchrequest>"#,
    )
}

/// The search of the app for iOS by name (`getRequestBodySearchFileName`).
pub(super) fn ios_name(depth: &str, name: &str) -> String {
    format!(
        r#"<?xml version="1.0"?>
<d:searchrequest xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
<d:basicsearch>
    <d:select>
        <d:prop>
<d:displayname /><d:resourcetype /><fileid xmlns="http://owncloud.org/ns"/>        </d:prop>
    </d:select>
    <d:from>
        <d:scope>
            <d:href>/files/{{id}}</d:href>
            <d:depth>{depth}</d:depth>
        </d:scope>
    </d:from>
    <d:where>
        <d:like>
            <d:prop><d:displayname/></d:prop>
            <d:literal>%{name}%</d:literal>
        </d:like>
    </d:where>
</d:basicsearch>
</d:searchrequest>"#
    )
}

/// The properties that `nc_py_api` asks for.
pub(super) const NC_PY_API_PROPERTIES: &str = concat!(
    "<d:prop><d:resourcetype /><d:getlastmodified /><d:creationdate /><d:getcontentlength /><d:getcontenttype />",
    "<d:getetag /><oc:size /><oc:id /><oc:fileid /><oc:downloadURL /><nc:download-url-expiration /><oc:dDC />",
    "<oc:permissions /><oc:checksums /><oc:share-types /><oc:favorite /><nc:is-encrypted /></d:prop>"
);

/// The search of `nc_py_api` in a folder. The package does not encode the path of the folder (`build_find_request`).
pub(super) fn nc_py_api(folder: &str, condition: &str) -> String {
    format!(
        concat!(
            "<?xml version='1.0' encoding='us-ascii'?>\n",
            r#"<d:searchrequest xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">"#,
            "<d:basicsearch><d:select>{properties}</d:select>",
            "<d:from><d:scope><d:href>/files/{{id}}/{folder}</d:href><d:depth>infinity</d:depth></d:scope></d:from>",
            "<d:where>{condition}</d:where></d:basicsearch></d:searchrequest>"
        ),
        properties = NC_PY_API_PROPERTIES,
        folder = folder,
        condition = condition
    )
}

/// A condition in a search of `nc_py_api`.
pub(super) fn is(operator: &str, property: &str, literal: &str) -> String {
    format!("<d:{operator}><d:prop><{property} /></d:prop><d:literal>{literal}</d:literal></d:{operator}>")
}
