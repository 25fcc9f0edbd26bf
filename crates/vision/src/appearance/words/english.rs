use super::{Concept, Language};

pub(super) const ENGLISH: Language = Language {
    endings: "s, ish",
    stems_are_words: true,
    concepts: &[
        (
            Concept::Red,
            "red~, reddish, crimson, scarlet, vermilion, carmine, ruby red, cherry red, blood red, fire red, \
            tomato red, lipstick red",
        ),
        (Concept::Orange, "orange?, orangey, orangish, orange colored, orange coloured, tangerine?, amber?"),
        (Concept::Yellow, "yellow~, yellowy, lemon yellow, sunny yellow, canary yellow"),
        (
            Concept::Green,
            "green~, greenery, lime green, grass green, emerald, emerald green, olive green, moss green, \
            verdant, chartreuse",
        ),
        (Concept::Turquoise, "turquoise~, teal, cyan, aquamarine, blue green, green blue, bluegreen"),
        (
            Concept::Blue,
            "blue~, bluish, azure, cobalt blue, royal blue, ultramarine, cerulean, electric blue",
        ),
        (Concept::Purple, "purple~, purplish, violet?, indigo, mauve"),
        (
            Concept::Pink,
            "pink~, pinky?, fuchsia, magenta, rosy, rose colored, rose coloured, hot pink, salmon pink",
        ),
        (Concept::Brown, "brown~, brownish, chocolate brown, chestnut brown, auburn, russet"),
        (
            Concept::Beige,
            "beige, tan?, ecru, cream coloured, cream colored, creamy?, off white, sand coloured, \
            sand colored, sandy?, khaki, ivory?",
        ),
        (Concept::Gold, "gold?, golden, gold coloured, gold colored, mustard yellow, ochre, ocher"),
        (Concept::Black, "black~, jet black, pitch black"),
        (Concept::White, "white~, whites, snow white, pure white"),
        (Concept::Gray, "gray~, grey~, silver?, silvery, steel gray, slate gray, steel grey, slate grey"),
        (Concept::DarkRed, "maroon, burgundy, wine red, oxblood, claret"),
        (Concept::LightRed, "salmon coloured, salmon colored, coral red"),
        (
            Concept::DarkOrange,
            "rust red, rust coloured, rust colored, burnt orange, terracotta, copper coloured",
        ),
        (Concept::LightOrange, "peach coloured, peach colored, peachy, apricot coloured"),
        (Concept::LightYellow, "pale yellow, cream yellow"),
        (Concept::DarkGreen, "forest green, bottle green, hunter green"),
        (Concept::LightGreen, "mint green, pistachio green, spring green, pale green"),
        (Concept::DarkTurquoise, "petrol blue, dark cyan"),
        (Concept::LightTurquoise, "aqua, mint coloured"),
        (Concept::DarkBlue, "navy?, navy blue, midnight blue, marine blue"),
        (Concept::LightBlue, "sky blue, baby blue, powder blue, ice blue, cornflower blue"),
        (Concept::DarkPurple, "aubergine coloured, plum coloured, eggplant coloured"),
        (Concept::LightPurple, "lavender?, lilac?, lavender coloured, lilac coloured"),
        (Concept::LightPink, "baby pink, blush pink, rose pink"),
        (Concept::DarkGray, "charcoal?, charcoal gray, charcoal grey, anthracite"),
        (
            Concept::Pastel,
            "pastel, pastels, pastel colours, pastel colors, pale colours, pale colors, soft colours, \
            soft colors, light colours, light colors, pale",
        ),
        (
            Concept::Neon,
            "neon, neon colours, neon colors, neon lights, fluorescent, glaring, glaring colours, \
            glaring colors, garish, dayglo",
        ),
        (
            Concept::Dark,
            "dark, darkish, darker, darkness, dim, dimly lit, gloomy, low key, lowkey, underexposed, \
            under exposed, too dark, shadowy, unlit, low light, poorly lit, badly lit, dark colours, dark colors",
        ),
        (
            Concept::Bright,
            "bright, brightish, brighter, high key, highkey, well lit, brightly lit, light filled, airy, \
            very bright, brightness",
        ),
        (
            Concept::Overexposed,
            "overexposed, over exposed, blown out, washed out highlights, too bright, overexposure",
        ),
        (
            Concept::HighContrast,
            "high contrast, contrasty, strong contrast, much contrast, hard light, harsh light, \
            deep shadows, full of contrast, great contrast",
        ),
        (
            Concept::LowContrast,
            "low contrast, flat, little contrast, no contrast, flat light, without contrast, \
            washed out, soft contrast",
        ),
        (Concept::Hazy, "hazy, haze, foggy, fog, misty, mist, in the fog, in fog, smoggy, murky"),
        (
            Concept::Warm,
            "warm, warm tones, warm toned, warm colours, warm colors, warm light, warmly lit, candlelit, \
            warm tone, autumnal",
        ),
        (
            Concept::Cool,
            "cool?, cool tones, cool toned, cool colours, cool colors, cold colours, cold colors, \
            cold tones, cold light, cool light, icy?, cool tone, bluish tones, blue tones, blue tint",
        ),
        (
            Concept::Vivid,
            "vivid, vibrant, saturated, strong colours, strong colors, intense colours, intense colors, \
            bright colours, bright colors, brightly coloured, brightly colored, rich colours, rich colors, \
            vivid colours, vivid colors, highly saturated",
        ),
        (
            Concept::Colourful,
            "colourful, colorful, multicoloured, multicolored, multicolour, multicolor, \
            many colours, many colors, rainbow coloured, rainbow colored, rainbow colours, rainbow colors, motley, \
            all colours, all colors, polychrome",
        ),
        (
            Concept::Muted,
            "muted, dull, desaturated, unsaturated, faded, drab, muted colours, muted colors, \
            dull colours, dull colors, subdued, earthy tones, washed out colours, washed out colors",
        ),
        (
            Concept::Monochrome,
            "black and white, black & white, b&w, b/w, bw, b and w, monochrome, monochromatic, grayscale, \
            greyscale, gray scale, grey scale, colourless, colorless, in black and white, without colour, \
            without color, no colour, no color, white and black, uncoloured, uncolored, shades of gray, \
            shades of grey",
        ),
        (
            Concept::Sepia,
            "sepia, sepia toned, sepia tone, sepia tones, brown toned, old timey, vintage toned",
        ),
        (Concept::Smooth, "smooth, soft?, even surface, few details, silky, clean surface, plain"),
        (
            Concept::Busy,
            "busy, detailed, cluttered, intricate, many details, rich in detail, full of detail, crowded \
            frame, textured, highly detailed, finely detailed, lots of detail",
        ),
        (Concept::Striped, "striped, stripes, stripe, stripy, stripey, lined pattern, with stripes"),
        (
            Concept::Blurry,
            "blurry, blurred, blur, blurs, out of focus, unfocused, unsharp, fuzzy, defocused, \
            soft focus, motion blur, shaky, not sharp, not in focus, camera shake",
        ),
        (
            Concept::Sharp,
            "sharp, crisp, in focus, tack sharp, sharp focus, well focused, not blurry, not blurred",
        ),
        (Concept::Grainy, "grainy, noisy, grain?, film grain, image noise, speckled"),
        (
            Concept::Panorama,
            "panorama, panoramas, panoramic, pano, wide format, very wide, panoramic view, \
            ultra wide, letterbox format",
        ),
        (
            Concept::Upright,
            "upright, vertical, vertically, portrait format, portrait orientation, portrait mode, \
            vertical format, upright format, in portrait format, tall format, vertical orientation, \
            higher than wide, taller than wide",
        ),
        (
            Concept::Sideways,
            "horizontal, horizontally, landscape format, landscape orientation, landscape mode, \
            horizontal format, horizontal orientation, wider than high, wider than tall",
        ),
        (Concept::Square, "square?, square format, square crop, squared, in square format, 1:1"),
        (Concept::Symmetric, "symmetric, symmetrical, symmetry, mirrored, symmetrically, mirror symmetry"),
        (
            Concept::BlurredBackground,
            "blurred background, blurry background, bokeh, shallow depth of field, \
            shallow focus, close up, closeup, close ups, closeups, macro, background blur, out of focus background, \
            soft background, selective focus, with blurred background, with a blurred background, \
            with blurry background",
        ),
        (
            Concept::Minimal,
            "minimal, minimalist, minimalistic, minimalism, empty background, plain background, \
            negative space, copy space, uncluttered, clean background, simple background, empty space, \
            isolated, uniform background, solid background",
        ),
        (
            Concept::Page,
            "page of text, document, documents, printed page, printed text, black on white, \
            scanned page, scanned document, scan, scans, text page, paper document, sheet of paper, \
            typed page, printed document, document scan",
        ),
        (
            Concept::Graphic,
            "graphic, graphics, clip art, clipart, flat colours, flat colors, computer graphic, \
            computer graphics, vector graphic, illustration?, flat design, drawn by computer",
        ),
        (
            Concept::Sunset,
            "sunset, sunsets, sunrise, sunrises, dusk, dawn, golden hour, sundown, sunup, evening glow, \
            evening sky, evening light, morning glow, afterglow, alpenglow, at sunset, at dusk, at dawn, at sunrise, \
            sun set, sun rise, red sky, orange sky, setting sun, rising sun",
        ),
        (
            Concept::Snow,
            "snow, snowy, snowscape, in the snow, snow covered, snowed in, winter landscape, wintry, \
            in snow",
        ),
        (
            Concept::Night,
            "night, nights, nighttime, night time, at night, by night, nocturnal, night shot, \
            night shots, night scene, nightly, after dark, city lights, in the dark, midnight, lights at night, \
            nightscape, night photo, night photos, night photography",
        ),
        (Concept::BlueHour, "blue hour, twilight, at twilight, nightfall, gloaming, at nightfall"),
        (
            Concept::BlueSky,
            "blue sky, blue skies, clear sky, clear skies, cloudless, cloudless sky, \
            under a blue sky, clear blue sky",
        ),
        (
            Concept::Overcast,
            "overcast, gray sky, grey sky, gray skies, grey skies, cloudy sky, dull sky, \
            white sky, overcast sky, cloudy day, cloudy",
        ),
        (
            Concept::Silhouette,
            "silhouette, silhouettes, silhouetted, backlit, back lit, backlight, \
            against the light, contre jour, counter light, in silhouette",
        ),
    ],
    dark: "dark, deep, darker, dark tones of, darkish",
    light: "light, pale, pastel, lighter, soft, faint",
    plain: "bright, strong, pure, plain, rich, lightly, very, mostly, mainly, deeply",
    shades_follow: false,
    negations: "not, no, without, non, isn't, not a, none, never, nothing, neither, nor, minus",
    ignored: "a, an, the, of, in, on, at, with, and, or, to, from, by, for, is, are, was, were, be, it, its, that, \
        this, these, those, there, my, our, your, me, i, we, you, some, any, all, very, quite, really, rather, \
        mostly, mainly, somewhat, lot, lots, more, most, much, many, few, little, & , /, show, find, \
        search, get, give, please, photo, photos, picture, pictures, image, images, pic, pics, photograph, \
        photographs, shot, shots, snapshot, snapshots, photographed, taken, colour, color, colours, colors, \
        coloured, colored, tone, tones, toned, tint, tinted, shade, shades, hue, hues, looking, looks, look, like, \
        full, background, style, format, orientation, frame, scene, which, where, something, anything, things, \
        containing, contains, has, have, having, only, every, but, as, predominantly, dominated",
};
