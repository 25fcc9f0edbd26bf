// The photos that show_images returns, and the calls for further pages.

const TOOL = 'show_images';
const MAX_IDS = 100;
const DEFAULT_LIMIT = 50;

/** Keys in the `_meta` of a failed call: the message for the user, and the ids that cannot be shown. */
const USER_MESSAGE = 'photo-library/userMessage';
const UNKNOWN_IDS = 'photo-library/unknownImageIds';
/** Key in the `_meta` of a result: the app may change details of photos. */
const MAY_EDIT = 'photo-library/mayEdit';

/** A failed tool call, with a message for the user; `unknownIds` cannot be shown. */
class ToolFailed extends Error {
  constructor(message, unknownIds) {
    super(message);
    this.unknownIds = Array.isArray(unknownIds) ? unknownIds : [];
  }

  /** This version of the app cannot read the result. */
  static unreadable() {
    return new ToolFailed('The app could not read the response of the photo library. Ask the assistant to show the photos again.');
  }
}

/** The message for the user after a failed call: what happened, then what to do. */
function explain(error) {
  if (error instanceof ToolFailed) return error.message;
  if (error.isTimeout) return 'The photo library did not respond. Check your connection and try again.';
  return 'The photo library could not be reached. Try again. If it fails again, check that the assistant is still connected to it.';
}

/** The payload of a tool result. The text of a failed call is for the model. */
function payloadOf(result) {
  if (result?.isError) {
    const message = text(result._meta?.[USER_MESSAGE]) ?? 'The request failed. Ask the assistant to try again.';
    throw new ToolFailed(message, result._meta?.[UNKNOWN_IDS]);
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
/** Only web URLs are accepted for photos. */
const webUrl = (value) => (/^https?:\/\//.test(value ?? '') ? value : undefined);

/** Parses a photo; `undefined` if the record is invalid. */
function imageOf(record) {
  if (!text(record?.id)) return undefined;
  const offset = offsetOf(record.utcOffset);
  const { width, height, renditions } = record;
  return {
    id: record.id,
    capturedAt: record.capturedAt,
    wall: wallOf(record.capturedAt, offset),
    zone: zoneOf(offset),
    thumb: webUrl(renditions?.['webp-thumb']) ?? webUrl(record.url),
    medium: webUrl(record.url) ?? webUrl(renditions?.['webp-medium']),
    width: width > 0 ? width : 3,
    height: height > 0 ? height : 2,
    place: text(record.place),
    description: text(record.description),
    fileName: text(record.fileName),
    matchedText: text(record.matchedText),
    distance: finite(record.distanceMeters),
    isFavorite: record.favorite === true,
  };
}

/** The photos of a payload. */
function imagesOf(payload) {
  if (!Array.isArray(payload.results)) throw ToolFailed.unreadable();
  return payload.results.map(imageOf).filter(Boolean);
}

/** Splits ids into lists that fit into one call. */
function chunks(ids) {
  return Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, index) => ids.slice(index * MAX_IDS, (index + 1) * MAX_IDS));
}

class Listing {
  /** Photos by id, in the order of the results. */
  images = new Map();
  #arguments;
  #limit;
  #last;
  #isComplete = false;

  /** `args` are the arguments of the call; `undefined` if the host did not send them. */
  constructor(args) {
    this.#arguments = args;
    this.#limit = Number.isInteger(args?.limit) ? args.limit : DEFAULT_LIMIT;
  }

  get query() {
    return text(this.#arguments?.query);
  }

  /** Whether the call requested all photos of an album. */
  get isAlbum() {
    const { albumId, query, latitude, startDate, endDate } = this.#arguments ?? {};
    return Boolean(text(albumId)) && [text(query), finite(latitude), text(startDate), text(endDate)].every((limit) => limit === undefined);
  }

  get hasMore() {
    return !this.#isComplete;
  }

  /** The photos that are not known to be deleted. */
  get present() {
    return [...this.images.values()].filter(({ isDeleted }) => !isDeleted);
  }

  /** Whether all of these photos are favourites. */
  areFavorites(ids) {
    return ids.every((id) => this.images.get(id)?.isFavorite);
  }

  /** Adds the photos of a payload, with `stamp` about their URLs. Returns those that are new. */
  add(payload, stamp) {
    const received = imagesOf(payload);
    const fresh = received.filter(({ id }) => !this.images.has(id));
    for (const image of fresh) this.images.set(image.id, Object.assign(image, stamp));
    this.#last = received.at(-1) ?? this.#last;
    // A call for certain ids has no further photos. An empty list of ids counts as absent.
    const isWhole = !this.#arguments || this.#arguments.imageIds?.length > 0;
    const isLast = received.length < this.#limit || fresh.length === 0;
    this.#isComplete = isWhole || isLast || (this.query !== undefined && this.#limit >= MAX_IDS);
    return fresh;
  }

  /** The arguments of the call for more photos: a longer list of the best matches, or the list from the last photo on. */
  more() {
    if (this.query !== undefined) {
      const step = Number.isInteger(this.#arguments.limit) ? this.#arguments.limit : DEFAULT_LIMIT;
      this.#limit = Math.min(this.#limit + step, MAX_IDS);
      return { ...this.#arguments, limit: this.#limit };
    }
    // The last photo is returned again, because endDate is inclusive.
    this.#limit = Math.max(this.#limit, 2);
    return { ...this.#arguments, limit: this.#limit, endDate: this.#last.capturedAt };
  }

  /** Sets new URLs of photos. Photos that are not in the payload were deleted. */
  renew(ids, payload, stamp) {
    const received = new Map(imagesOf(payload).map((image) => [image.id, image]));
    for (const id of ids) {
      const image = this.images.get(id);
      const { thumb, medium, isFavorite } = received.get(id) ?? {};
      if (image) Object.assign(image, stamp, { thumb, medium, isFavorite, isDeleted: !received.has(id) });
    }
  }
}
