// The photos that a call of show_images gives, and the calls for more of them.

const TOOL = 'show_images';
const MOST = 100;
const USUAL_LIMIT = 50;

/** Members of a failed call's `_meta`: what to tell people, and the photos that are not in the library. */
const USER_MESSAGE = 'photo-library/userMessage';
const UNKNOWN = 'photo-library/unknownImageIds';

/** A call that the library refused, in words for people; `unknownIds` are the photos that are not in the library. */
class ToolFailed extends Error {
  constructor(message, unknownIds) {
    super(message);
    this.unknownIds = Array.isArray(unknownIds) ? unknownIds : [];
  }

  /** The answer is none that this version of the app can read. */
  static unreadable() {
    return new ToolFailed('The photo library gave an answer that cannot be shown here. Ask the assistant to show the photos again.');
  }
}

/** What people are told when a call fails: what happened and what to do. */
function explain(error) {
  if (error instanceof ToolFailed) return error.message;
  if (error.isTimeout) return 'The photo library did not answer. Check your connection and try again.';
  return 'The photo library could not be reached. Try again. If that does not help, check that the assistant is still connected to it.';
}

/** The answer of a tool, as an object. The text of a failed call is for the model. */
function payloadOf(result) {
  if (result?.isError) {
    const message = text(result._meta?.[USER_MESSAGE]) ?? 'The photo library could not do this. Ask the assistant to try again.';
    throw new ToolFailed(message, result._meta?.[UNKNOWN]);
  }
  const structured = result?.structuredContent;
  if (structured && typeof structured === 'object') return structured;
  const [block] = (Array.isArray(result?.content) ? result.content : []).filter(({ type }) => type === 'text');
  try {
    return Object(JSON.parse(block.text));
  } catch {
    throw ToolFailed.unreadable();
  }
}

const text = (value) => (typeof value === 'string' && value.trim() ? value : undefined);
const finite = (value) => (Number.isFinite(value) ? value : undefined);
/** Photos come from web servers and from nowhere else. */
const address = (value) => (/^https?:\/\//.test(value ?? '') ? value : undefined);

/** One photo; `undefined` when the record is none. */
function imageOf(record) {
  if (!text(record?.id)) return undefined;
  const offset = offsetOf(record.utcOffset);
  const { width, height, renditions } = record;
  return {
    id: record.id,
    capturedAt: record.capturedAt,
    wall: wallOf(record.capturedAt, offset),
    zone: zoneOf(offset),
    thumb: address(renditions?.['webp-thumb']) ?? address(record.url),
    medium: address(record.url) ?? address(renditions?.['webp-medium']),
    width: width > 0 ? width : 3,
    height: height > 0 ? height : 2,
    place: text(record.place),
    description: text(record.description),
    fileName: text(record.fileName),
    matchedText: text(record.matchedText),
    distance: finite(record.distanceMeters),
  };
}

/** The photos of an answer. */
function imagesOf(payload) {
  if (!Array.isArray(payload.results)) throw ToolFailed.unreadable();
  return payload.results.map(imageOf).filter(Boolean);
}

/** Lists of at most as many as one call takes. */
function chunks(ids) {
  return Array.from({ length: Math.ceil(ids.length / MOST) }, (_, place) => ids.slice(place * MOST, (place + 1) * MOST));
}

class Listing {
  /** From id to photo, in the order of the answer. */
  images = new Map();
  #arguments;
  #limit;
  #last;
  #isOver = false;

  /** `given` are the arguments of the call; `undefined` when the host did not tell. */
  constructor(given) {
    this.#arguments = given;
    this.#limit = Number.isInteger(given?.limit) ? given.limit : USUAL_LIMIT;
  }

  get query() {
    return text(this.#arguments?.query);
  }

  /** Whether all photos of an album were asked for. */
  get isAlbum() {
    const { albumId, query, latitude, startDate, endDate } = this.#arguments ?? {};
    return Boolean(text(albumId)) && [text(query), finite(latitude), text(startDate), text(endDate)].every((limit) => limit === undefined);
  }

  get hasMore() {
    return !this.#isOver;
  }

  /** The photos that are still in the library, as far as is known. */
  get present() {
    return [...this.images.values()].filter(({ isGone }) => !isGone);
  }

  /** Takes what came, and what is known of its addresses; gives the photos that are new. */
  add(payload, stamp) {
    const came = imagesOf(payload);
    const fresh = came.filter(({ id }) => !this.images.has(id));
    for (const image of fresh) this.images.set(image.id, Object.assign(image, stamp));
    this.#last = came.at(-1) ?? this.#last;
    // A list of no ids counts as none.
    const isWhole = !this.#arguments || this.#arguments.imageIds?.length > 0;
    const isLast = came.length < this.#limit || fresh.length === 0;
    this.#isOver = isWhole || isLast || (this.query !== undefined && this.#limit >= MOST);
    return fresh;
  }

  /** The arguments of the call that gives more: a longer list of the best, or the photos before the last one. */
  more() {
    if (this.query !== undefined) {
      const step = Number.isInteger(this.#arguments.limit) ? this.#arguments.limit : USUAL_LIMIT;
      this.#limit = Math.min(this.#limit + step, MOST);
      return { ...this.#arguments, limit: this.#limit };
    }
    // The last one comes again, because the end is part of the range.
    this.#limit = Math.max(this.#limit, 2);
    return { ...this.#arguments, limit: this.#limit, endDate: this.#last.capturedAt };
  }

  /** Takes new addresses of photos, and what is known of them. Photos that did not come are no longer in the library. */
  renew(ids, payload, stamp) {
    const came = new Map(imagesOf(payload).map((image) => [image.id, image]));
    for (const id of ids) {
      const image = this.images.get(id);
      const { thumb, medium } = came.get(id) ?? {};
      if (image) Object.assign(image, stamp, { thumb, medium, isGone: !came.has(id) });
    }
  }
}
