// The pictures that a call of show_images gives, and the calls that go on from there.

const TOOL = 'show_images';
const MOST = 100;
const USUAL_LIMIT = 50;

/** Where an error lists the pictures that are not there. */
const UNKNOWN = 'photo-library/unknownImageIds';

/** What a tool refused, in its words; `unknownIds` are those of pictures that are not there. */
class ToolFailed extends Error {
  constructor(message, unknownIds) {
    super(message);
    this.unknownIds = Array.isArray(unknownIds) ? unknownIds : [];
  }
}

/** What a tool answers, as an object. */
function payloadOf(result) {
  const texts = (Array.isArray(result?.content) ? result.content : [])
    .filter(({ type, text }) => type === 'text' && typeof text === 'string')
    .map(({ text }) => text);
  if (result?.isError) throw new ToolFailed(texts.join('\n') || 'The library gave no reason.', result._meta?.[UNKNOWN]);
  const structured = result?.structuredContent;
  if (structured && typeof structured === 'object') return structured;
  try {
    return Object(JSON.parse(texts[0]));
  } catch {
    throw new ToolFailed('The answer of the library cannot be read.');
  }
}

const text = (value) => (typeof value === 'string' && value.trim() ? value : undefined);
const finite = (value) => (Number.isFinite(value) ? value : undefined);
/** Pictures come from web servers and from nowhere else. */
const address = (value) => (/^https?:\/\//.test(value ?? '') ? value : undefined);

/** One picture; `undefined` when the record is none. */
function imageOf(record) {
  if (!text(record?.id)) return undefined;
  const time = new Date(record.capturedAt);
  const { width, height, renditions } = record;
  return {
    id: record.id,
    capturedAt: record.capturedAt,
    time: Number.isNaN(time.getTime()) ? undefined : time,
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

/** The pictures of an answer. */
function imagesOf(payload) {
  if (!Array.isArray(payload.results)) throw new ToolFailed('The answer of the library cannot be read.');
  return payload.results.map(imageOf).filter(Boolean);
}

/** Lists of at most as many as one call takes. */
function chunks(ids) {
  return Array.from({ length: Math.ceil(ids.length / MOST) }, (_, place) => ids.slice(place * MOST, (place + 1) * MOST));
}

class Listing {
  /** From id to picture, in the order of the answer. */
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

  get hasMore() {
    return !this.#isOver;
  }

  /** The pictures that are in the library still, as far as is known. */
  get present() {
    return [...this.images.values()].filter(({ isGone }) => !isGone);
  }

  /** Takes what came, and what is known of its addresses; gives the pictures that are new. */
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

  /** The arguments of the call that gives more: a longer list of the best, or the pictures before the last one. */
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

  /** Takes new addresses of pictures, and what is known of them. Pictures that did not come are there no longer. */
  renew(ids, payload, stamp) {
    const came = new Map(imagesOf(payload).map((image) => [image.id, image]));
    for (const id of ids) {
      const image = this.images.get(id);
      const { thumb, medium } = came.get(id) ?? {};
      if (image) Object.assign(image, stamp, { thumb, medium, isGone: !came.has(id) });
    }
  }
}
