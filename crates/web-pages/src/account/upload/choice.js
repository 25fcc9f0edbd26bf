// Which of the chosen and dropped files are uploaded.
const UploadChoice = {
  /** Files that operating systems add to folders. */
  JUNK: /^(\.|thumbs\.db$|desktop\.ini$)/i,
  /** Files that describe photos. This upload sends photos one by one, so a file about another one has no use. */
  DESCRIPTION: /\.(json|xmp|aae)$/i,
  ARCHIVE: /\.(zip|tar|tgz|tar\.gz)$/i,

  /** Divides files into those to upload and those to leave out. A file comes with its path. */
  sort(files) {
    const sorted = { photos: [], archives: [], descriptions: [] };
    for (const [file, path] of files) {
      if (this.JUNK.test(file.name)) continue;
      const kind = this.ARCHIVE.test(file.name) ? 'archives' : this.DESCRIPTION.test(file.name) ? 'descriptions' : 'photos';
      sorted[kind].push([file, path]);
    }
    return sorted;
  },

  /** What was left out and what to do about it; empty if nothing was. */
  leftOut({ archives, descriptions }) {
    const texts = [];
    if (archives.length === 1) texts.push(`${archives[0][1]} was left out, because archives cannot be uploaded here.`);
    if (archives.length > 1) texts.push(`${archives.length} archives were left out, because archives cannot be uploaded here.`);
    const files = descriptions.length === 1 ? '1 file that describes photos was' : `${descriptions.length} files that describe photos were`;
    if (descriptions.length) texts.push(`${files} left out (.json, .xmp or .aae).`);
    if (texts.length) texts.push('An export of Google Photos or iCloud Photos is imported whole, with its dates, places and albums, on the machine that runs the library.');
    return texts.join(' ');
  },

  /** Reads dropped files and folders. `unreadable` has the paths of those that the browser could not read. */
  async read(entries) {
    const read = { files: [], unreadable: [] };
    for (const entry of entries) await this.visit(entry, '', read);
    return read;
  },

  async visit(entry, folder, read) {
    const path = folder + entry.name;
    try {
      if (entry.isFile) {
        read.files.push([await new Promise((done, failed) => entry.file(done, failed)), path]);
        return;
      }
      const reader = entry.createReader();
      for (;;) {
        // A call returns some of the entries. An empty list is the end.
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length) return;
        for (const inner of some) await this.visit(inner, `${path}/`, read);
      }
    } catch {
      read.unreadable.push(path);
    }
  },
};
