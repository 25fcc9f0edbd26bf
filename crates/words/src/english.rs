//! English words that the stemmers of other languages would stem wrongly.

/// Whether this is an English word, or its plural, whose ending looks like an inflection of another language. The Swedish
/// and German stemmers would reduce "rocket" to "rock" and "flower" to "flow".
pub(crate) fn is_english(word: &str) -> bool {
    let is_listed = |word: &str| WORDS.binary_search(&word).is_ok();
    is_listed(word)
        || word
            .strip_suffix('s')
            .is_some_and(|one| is_listed(one) || one.strip_suffix('e').is_some_and(is_listed))
}

// Sorted by bytes.
#[rustfmt::skip]
const WORDS: [&str; 678] = [
    "acrobat", "action", "adder", "alien", "altar", "always", "ambition", "anchor", "anger", "animal",
    "another", "anterior", "apron", "arbor", "armor", "arsenal", "atlas", "auction", "author", "bacon",
    "badger", "ballet", "band", "banda", "banner", "bare", "barge", "barren", "barrier", "basin", "basket",
    "batter", "beacon", "beer", "behavior", "besides", "better", "billion", "bingo", "bison", "bitter",
    "bladder", "blade", "blanket", "blaze", "boiler", "bonnet", "booklet", "border", "bother", "boulder",
    "bouquet", "bracelet", "bracket", "brake", "brand", "breeze", "broken", "bronze", "brother", "bucket",
    "budget", "buffer", "buffet", "bullet", "bumper", "burden", "burger", "butter", "button", "buyer",
    "cabin", "cabinet", "cactus", "calendar", "calender", "campus", "canister", "cannon", "cantina",
    "canvas", "canyon", "capital", "captain", "caravan", "carbon", "career", "carnival", "carpet",
    "carrier", "carta", "cashier", "casino", "casket", "caste", "cathedral", "caution", "cavern", "cedar",
    "cellar", "cello", "census", "center", "cereal", "certain", "champion", "chaos", "chapter", "charge",
    "charter", "cheer", "chicken", "children", "choke", "chorus", "chose", "cinder", "circus", "cistern",
    "citizen", "clever", "clipper", "cloche", "close", "closet", "cluster", "coarse", "coffin", "collar",
    "color", "colour", "combat", "combo", "comet", "comma", "common", "concern", "condition", "conquest",
    "constant", "contest", "copper", "coral", "corner", "corps", "costa", "cotton", "cougar", "counter",
    "courier", "course", "cousin", "cover", "cravat", "craze", "cricket", "crime", "crimson", "crochet",
    "crude", "crystal", "curse", "curtain", "cushion", "cylinder", "danger", "dealer", "deer", "diaper",
    "diet", "differ", "dingo", "dinner", "disco", "distant", "doctor", "dollar", "dolphin", "dozen",
    "drake", "drama", "driven", "eastern", "edition", "either", "elder", "elephant", "eleven", "engineer",
    "error", "even", "ever", "exterior", "factor", "falcon", "fallen", "fashion", "father", "favor",
    "feather", "feeler", "fern", "festival", "fever", "fiction", "filter", "finger", "flake", "flavor",
    "flavour", "flower", "flute", "flyer", "focus", "fodder", "force", "forest", "forge", "format",
    "fountain", "fraction", "freeze", "frontier", "frozen", "fryer", "function", "funeral", "gadget",
    "gangster", "garden", "gas", "gather", "gauze", "gaze", "gender", "general", "genius", "german",
    "giant", "ginger", "glacier", "glaze", "glitter", "globe", "goblet", "golden", "goose", "gorge",
    "govern", "grade", "grammar", "grand", "grape", "great", "green", "gripe", "guitar", "habitat",
    "hamlet", "hammer", "hamster", "hand", "harbor", "harbour", "harvest", "haste", "haze", "heather",
    "heaven", "hello", "helmet", "helter", "hidden", "honest", "honor", "hopper", "horizon", "hornet",
    "horror", "hospital", "human", "humor", "hunger", "husband", "infant", "inlet", "inner", "instant",
    "interest", "interior", "intern", "intro", "island", "jacket", "journal", "jumper", "junction",
    "junior", "keen", "kitchen", "kite", "kitten", "labor", "labour", "ladder", "land", "lantern", "large",
    "lawyer", "layer", "leather", "lectern", "ledger", "legion", "lemon", "lens", "lesson", "letter",
    "lever", "lichen", "limbo", "linen", "lingo", "listen", "litter", "llama", "lobster", "locket", "loose",
    "lotion", "lotus", "loyal", "lunar", "magnet", "maiden", "maize", "major", "manga", "mania", "manner",
    "manor", "mansion", "market", "master", "matter", "maze", "medal", "melon", "member", "menu",
    "merchant", "merge", "merger", "metal", "meteor", "metro", "midget", "million", "mineral", "minister",
    "minor", "mirror", "mission", "mister", "mitten", "modern", "modest", "molten", "monster", "moose",
    "moral", "mother", "motion", "motor", "mountain", "muffin", "mural", "mutter", "mutton", "napkin",
    "nation", "neighbor", "neighbour", "neither", "never", "news", "noose", "northern", "nose", "notion",
    "number", "ocean", "offer", "often", "older", "omelet", "omen", "onion", "open", "option", "order",
    "organ", "orphan", "other", "outlet", "oven", "over", "oxen", "packet", "pan", "paper", "parlor",
    "partner", "passion", "pasta", "paste", "pattern", "pedal", "peer", "pellet", "pendant", "pension",
    "pepper", "perhaps", "person", "petal", "phase", "pier", "pillar", "pioneer", "plane", "planes",
    "planet", "plant", "plaster", "plate", "player", "please", "plume", "pocket", "poet", "poison", "polar",
    "polka", "polo", "porta", "porter", "portion", "pose", "position", "poster", "potion", "powder",
    "power", "prayer", "prefer", "premier", "prime", "printer", "prison", "prize", "prose", "protest",
    "pumpkin", "punta", "puppet", "purge", "quake", "quarter", "quartet", "queen", "question", "quiet",
    "quite", "quiver", "racket", "radar", "raisin", "ranger", "rather", "raven", "razor", "reason", "refer",
    "region", "register", "religion", "request", "resin", "restaurant", "retro", "ribbon", "rider", "river",
    "rivet", "rocket", "roman", "rooster", "rose", "roster", "royal", "rumor", "rural", "sailor", "salmon",
    "salsa", "sand", "sawyer", "scale", "scare", "scarlet", "scene", "scone", "score", "scrape", "screen",
    "season", "secret", "section", "sector", "seize", "seminar", "senior", "series", "sermon", "servant",
    "session", "seven", "shade", "shake", "shape", "share", "sheer", "sheet", "shelter", "shine", "shore",
    "shoulder", "shower", "shutter", "signal", "silver", "siren", "sister", "size", "skate", "slate",
    "slide", "slipper", "slogan", "slope", "smile", "smoke", "snake", "sneeze", "snipe", "socket", "solar",
    "soldier", "solo", "sonnet", "southern", "spade", "spare", "species", "spider", "spine", "spinster",
    "spite", "spoke", "spoken", "sprite", "squeeze", "stage", "stake", "stale", "stand", "stare", "state",
    "station", "steer", "stern", "stile", "stolen", "store", "street", "stripe", "stroke", "sudden",
    "suffer", "sugar", "summer", "sunset", "super", "superior", "supper", "surge", "sweet", "tablet",
    "tailor", "tango", "tanner", "target", "taste", "tavern", "tease", "teen", "temper", "tempest", "tempo",
    "tender", "tension", "terrier", "terror", "testa", "there", "these", "those", "thousand", "throat",
    "ticket", "tier", "tiger", "timber", "toilet", "token", "total", "tower", "traction", "tractor",
    "tradition", "trailer", "transfer", "treat", "trite", "trumpet", "tumor", "turbo", "tutor", "twine",
    "twitter", "union", "upper", "urban", "vector", "velvet", "venus", "verge", "villa", "villain",
    "vinegar", "violet", "virus", "vision", "vital", "wafer", "wallet", "walrus", "warden", "waste",
    "water", "weather", "western", "whale", "wheat", "where", "whether", "while", "whine", "white",
    "winter", "woman", "women", "wooden", "woven", "write", "written", "zipper",
];
