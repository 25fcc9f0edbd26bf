// Selects the files to upload from those that were chosen or dropped.
const UploadChoice = {
  /** Files that operating systems add to folders. */
  JUNK: /^(\.|thumbs\.db$|desktop\.ini$)/i,
  /** Sidecars and other files that describe photos. They are left out, because this upload sends each photo by itself. */
  DESCRIPTION: /\.(json|xmp|aae)$/i,
  ARCHIVE: /\.(zip|tar|tgz|tar\.gz)$/i,

  /** Divides files, each with its path, into photos to upload, and archives and descriptions to leave out. */
  sort(files) {
    const sorted = { photos: [], archives: [], descriptions: [] };
    for (const [file, path] of files) {
      if (this.JUNK.test(file.name)) continue;
      const kind = this.ARCHIVE.test(file.name) ? 'archives' : this.DESCRIPTION.test(file.name) ? 'descriptions' : 'photos';
      sorted[kind].push([file, path]);
    }
    return sorted;
  },

  /** A text that says which files were left out and how to import them; empty if none were. */
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
        // Each call returns a part of the entries. An empty list means that all were read.
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length) return;
        for (const inner of some) await this.visit(inner, `${path}/`, read);
      }
    } catch {
      read.unreadable.push(path);
    }
  },
};
