use super::{Concept, Language};

pub(super) const GERMAN: Language = Language {
    endings: "e, er, es, en, em, ere, erer, stes",
    stems_are_words: true,
    concepts: &[
        (
            Concept::Red,
            "rot~, rötlich~, knallrot~, feuerrot~, blutrot~, kirschrot~, scharlachrot~, ziegelrot~, rottöne",
        ),
        (Concept::Orange, "orange~?, orangefarben~, orangen?, orangerot~, orangefarbig~"),
        (Concept::Yellow, "gelb~, gelblich~, zitronengelb~, sonnengelb~, knallgelb~"),
        (Concept::Green, "grün~, grünlich~, grasgrün~, smaragdgrün~, olivgrün~, moosgrün~, giftgrün~"),
        (Concept::Turquoise, "türkis~, türkisfarben~, blaugrün~, cyan, zyan, türkisblau~"),
        (Concept::Blue, "blau~, bläulich~, königsblau~, azurblau~, kobaltblau~, stahlblau~, tiefblau~"),
        (Concept::Purple, "lila, violett~, purpur, purpurn~, lilafarben~, purpurfarben~"),
        (Concept::Pink, "rosa, pinkfarben~, rosarot~, rosafarben~, pinke, pinker, pinkes, pinken"),
        (Concept::Brown, "braun~, bräunlich~, kastanienbraun~, schokoladenbraun~"),
        (Concept::Beige, "beige~, sandfarben~, cremefarben~, cremeweiß~, elfenbeinfarben~, naturfarben~"),
        (Concept::Gold, "golden~, goldfarben~, goldgelb~, ockerfarben~, senfgelb~, ocker"),
        (Concept::Black, "schwarz~, pechschwarz~, tiefschwarz~, schwärzlich~"),
        (Concept::White, "weiß~, weiss~, weißlich~, weisslich~, schneeweiß~, schneeweiss~, reinweiß~"),
        (Concept::Gray, "grau~, gräulich~, silbern~, silberfarben~, silbergrau~, mausgrau~"),
        (Concept::DarkRed, "dunkelrot~, weinrot~, bordeauxrot~, bordeaux, rubinrot~"),
        (Concept::LightRed, "hellrot~, lachsfarben~, lachsrot~"),
        (Concept::DarkOrange, "dunkelorange~, rostrot~, rostfarben~, kupferfarben~, terrakotta"),
        (Concept::LightOrange, "hellorange~, pfirsichfarben~, apricotfarben~"),
        (Concept::DarkYellow, "dunkelgelb~"),
        (Concept::LightYellow, "hellgelb~, blassgelb~"),
        (Concept::DarkGreen, "dunkelgrün~, tannengrün~, flaschengrün~"),
        (Concept::LightGreen, "hellgrün~, mintgrün~, lindgrün~, blassgrün~"),
        (Concept::DarkTurquoise, "dunkeltürkis~, petrolfarben~, petrolblau~"),
        (Concept::LightTurquoise, "helltürkis~"),
        (Concept::DarkBlue, "dunkelblau~, marineblau~, nachtblau~, mitternachtsblau~"),
        (Concept::LightBlue, "hellblau~, himmelblau~, babyblau~, eisblau~, blassblau~"),
        (Concept::DarkPurple, "dunkellila, dunkelviolett~"),
        (Concept::LightPurple, "helllila, hellviolett~, fliederfarben~, lavendelfarben~, zartlila"),
        (Concept::DarkPink, "dunkelrosa, dunkelpink"),
        (Concept::LightPink, "hellrosa, zartrosa, blassrosa"),
        (Concept::DarkBrown, "dunkelbraun~"),
        (Concept::LightBrown, "hellbraun~"),
        (Concept::DarkGray, "dunkelgrau~, anthrazit, anthrazitfarben~"),
        (Concept::LightGray, "hellgrau~"),
        (Concept::Pastel, "pastellfarben, pastelltöne, pastellig~, pastell, pastellfarbig~, blass~"),
        (Concept::Neon, "neonfarben, neonfarbig~, grell~, neongrün, leuchtfarben, neonlicht"),
        (
            Concept::Dark,
            "dunkel, dunkle, dunkler, dunkles, dunklen, dunklem, finster~, düster~, schummrig~, \
            unterbelichtet~, zu dunkel, dämmrig~",
        ),
        (Concept::Bright, "hell~?, taghell~, lichtdurchflutet~"),
        (Concept::Overexposed, "überbelichtet~, zu hell, ausgefressen~, ausgebrannt~?"),
        (Concept::HighContrast, "kontrastreich~, hoher kontrast, starker kontrast, hartes licht"),
        (Concept::LowContrast, "kontrastarm~, wenig kontrast, geringer kontrast, flau~, niedriger kontrast"),
        (Concept::Hazy, "neblig~, nebelig~, nebel, diesig~, dunstig~, dunst, im nebel, trüb~"),
        (
            Concept::Warm,
            "warme, warmer, warmes, warme farben, warme töne, warmes licht, warmen farben, herbstlich~",
        ),
        (
            Concept::Cool,
            "kühl~, kalte farben, kühle farben, kühle töne, kaltes licht, blaustich, blaustichig~, \
            kühlen farben, kalten farben",
        ),
        (
            Concept::Vivid,
            "kräftig~, leuchtend~, gesättigt~, farbintensiv~, kräftige farben, leuchtende farben, \
            farbenfroh~, satte farben, kräftigen farben",
        ),
        (Concept::Colourful, "bunt~, vielfarbig~, mehrfarbig~, regenbogenfarben, kunterbunt~, viele farben"),
        (
            Concept::Muted,
            "gedeckte farben, entsättigt~, blasse farben, matte farben, gedämpfte farben, verblasst~, \
            fahl~",
        ),
        (
            Concept::Monochrome,
            "schwarz weiß, schwarz weiss, schwarzweiß~, schwarzweiss~, sw, s/w, monochrom~, \
            einfarbig~, farblos~, graustufen, schwarz und weiß, schwarz auf weiß, ohne farbe, schwarzweißfoto, \
            schwarzweißfotos, schwarzweißbild, schwarzweißbilder, schwarz weiß foto, schwarz weiß fotos, \
            schwarzweißaufnahme",
        ),
        (Concept::Sepia, "sepiafarben~, sepiaton, sepiatöne, bräunlich getönt"),
        (Concept::Smooth, "glatt~, ebenmäßig~, einheitlich~"),
        (Concept::Busy, "detailreich~, unruhig~, detailliert~, viele details, überladen~"),
        (Concept::Striped, "gestreift~, streifen?, streifig~, streifenmuster"),
        (
            Concept::Blurry,
            "unscharf~, verschwommen~, verwackelt~, verwischt~, unschärfe, nicht scharf, weichgezeichnet~, \
            bewegungsunschärfe",
        ),
        (Concept::Sharp, "scharf~?, gestochen scharf, knackscharf~, fokussiert~, nicht unscharf"),
        (Concept::Grainy, "körnig~, verrauscht~, bildrauschen, grobkörnig~"),
        (
            Concept::Panorama,
            "panoramabild, panoramabilder, panoramafoto, panoramafotos, panoramaaufnahme, breitformat, \
            rundblick",
        ),
        (Concept::Upright, "hochformat, im hochformat, hochkant, senkrecht~, vertikal~, hochformatig~"),
        (Concept::Sideways, "querformat, im querformat, waagerecht~, waagrecht~, horizontal~, querformatig~"),
        (Concept::Square, "quadratisch~, quadrat, im quadrat, quadratformat"),
        (Concept::Symmetric, "symmetrisch~, symmetrie, spiegelbildlich~, achsensymmetrisch~"),
        (
            Concept::BlurredBackground,
            "unscharfer hintergrund, unscharfem hintergrund, unscharfen hintergrund, \
            mit unscharfem hintergrund, nahaufnahme, nahaufnahmen, makroaufnahme, makroaufnahmen, makro, \
            hintergrundunschärfe, verschwommener hintergrund, verschwommenem hintergrund, geringe schärfentiefe, \
            freigestellt~, makrofoto, makrofotos, schärfentiefe?",
        ),
        (
            Concept::Minimal,
            "minimalistisch~, leerer hintergrund, leerem hintergrund, einfarbiger hintergrund, \
            einfarbigem hintergrund, schlicht~",
        ),
        (
            Concept::Page,
            "textseite, textseiten, dokument, dokumente, gescannt~, bedruckte seite, schriftstück, \
            schwarz auf weiß gedruckt, druckseite",
        ),
        (Concept::Graphic, "grafik, grafiken, graphik, grafisch~, computergrafik, cliparts"),
        (
            Concept::Sunset,
            "sonnenuntergang, sonnenuntergänge, sonnenaufgang, sonnenaufgänge, abendrot, morgenrot, \
            abendstimmung, abendhimmel, goldene stunde, morgengrauen, abendlicht, alpenglühen, beim sonnenuntergang, \
            abenddämmerung, morgendämmerung",
        ),
        (
            Concept::Snow,
            "schnee, verschneit~, schneebedeckt~, im schnee, winterlich~, eingeschneit~, schneelandschaft, \
            winterlandschaft",
        ),
        (
            Concept::Night,
            "nacht, nachts, bei nacht, nächtlich~, nachtaufnahme, nachtaufnahmen, in der nacht, nachtfoto, \
            nachtfotos, lichter der stadt",
        ),
        (Concept::BlueHour, "blaue stunde, blauer stunde, zur blauen stunde, dämmerung, blauen stunde"),
        (
            Concept::BlueSky,
            "blauer himmel, blauem himmel, blauen himmel, wolkenlos~, klarer himmel, \
            wolkenloser himmel, strahlend blauer himmel",
        ),
        (
            Concept::Overcast,
            "bedeckt~, bewölkt~, grauer himmel, grauem himmel, wolkenverhangen~, bedeckter himmel, \
            trüber himmel, grauen himmel",
        ),
        (
            Concept::Silhouette,
            "gegenlicht, im gegenlicht, schattenriss, schattenrisse, scherenschnitt, \
            gegenlichtaufnahme",
        ),
    ],
    dark: "dunkel, dunkle, dunkler, dunkles, dunklen, tief, tiefes",
    light: "hell~, blass~, zart~",
    plain: "knallig~, leuchtend~, kräftig~, reines, sehr",
    shades_follow: false,
    negations: "nicht, kein~, ohne, weder, noch, nie",
    ignored: "der, die, das, den, dem, des, ein, eine, einer, eines, einem, einen, und, oder, mit, im, in, auf, an, am, \
        bei, beim, von, vom, zu, zur, zum, aus, für, ist, sind, foto, fotos, bild, bilder, aufnahme, aufnahmen, \
        farbe, farben, farbig~, töne, ton, hintergrund, sehr, viel, viele, etwas, alle, mein, meine, zeige, finde, \
        suche, überwiegend, hauptsächlich, meist",
};

pub(super) const DUTCH: Language = Language {
    endings: "e, s",
    stems_are_words: true,
    concepts: &[
        (Concept::Red, "rood, rode?, roodachtig~, knalrood, vuurrood"),
        (Concept::Orange, "oranje, oranjekleurig~"),
        (Concept::Yellow, "geel, gele, geelachtig~, knalgeel"),
        (Concept::Green, "groen~, groenachtig~, grasgroen~"),
        (Concept::Turquoise, "turkoois, turkooizen, blauwgroen~, zeegroen~"),
        (Concept::Blue, "blauw~, blauwachtig~"),
        (Concept::Purple, "paars, paarse, paarsachtig~, violet, lila"),
        (Concept::Pink, "roze, rozig~"),
        (Concept::Brown, "bruin~, bruinachtig~"),
        (Concept::Beige, "zandkleurig~, crèmekleurig~"),
        (Concept::Gold, "gouden?, goudkleurig~, goudgeel, goudgele, oker"),
        (Concept::Black, "zwart~, pikzwart~"),
        (Concept::White, "wit?, witte, sneeuwwit, sneeuwwitte"),
        (Concept::Gray, "grijs, grijze, grijsachtig~, zilverkleurig~"),
        (Concept::DarkRed, "donkerrood, donkerrode, wijnrood, wijnrode, bordeauxrood"),
        (Concept::LightRed, "lichtrood, lichtrode, zalmkleurig~"),
        (Concept::DarkGreen, "donkergroen~"),
        (Concept::LightGreen, "lichtgroen~, mintgroen~"),
        (Concept::DarkBlue, "donkerblauw~, marineblauw~"),
        (Concept::LightBlue, "lichtblauw~, hemelsblauw~"),
        (Concept::DarkPurple, "donkerpaars~"),
        (Concept::LightPurple, "lichtpaars~"),
        (Concept::LightPink, "lichtroze"),
        (Concept::DarkPink, "donkerroze"),
        (Concept::DarkBrown, "donkerbruin~"),
        (Concept::LightBrown, "lichtbruin~"),
        (Concept::DarkGray, "donkergrijs, donkergrijze, antraciet"),
        (Concept::LightGray, "lichtgrijs, lichtgrijze"),
        (Concept::DarkYellow, "donkergeel, donkergele"),
        (Concept::LightYellow, "lichtgeel, lichtgele"),
        (Concept::DarkOrange, "donkeroranje"),
        (Concept::Pastel, "pastelkleuren, pastelkleurig~, pasteltinten"),
        (Concept::Neon, "neonkleuren, fluorescerend~, felle kleuren"),
        (Concept::Dark, "donker~, duister~, schemerig~, onderbelicht~"),
        (Concept::Bright, "helder~, licht gekleurd"),
        (Concept::Overexposed, "overbelicht~"),
        (Concept::HighContrast, "hoog contrast, contrastrijk~, veel contrast"),
        (Concept::LowContrast, "laag contrast, weinig contrast, contrastarm~"),
        (Concept::Hazy, "mistig~, mist, nevelig~, heiig~, in de mist"),
        (Concept::Warm, "warme kleuren, warme tinten, warm licht"),
        (Concept::Cool, "koele kleuren, koude kleuren, koele tinten, koel~"),
        (Concept::Vivid, "levendig~, verzadigd~, levendige kleuren"),
        (Concept::Colourful, "kleurrijk~, veelkleurig~, bont~"),
        (Concept::Muted, "gedempte kleuren, vale kleuren, flets~"),
        (Concept::Monochrome, "zwart wit, zwartwit, zwart witte, monochroom, zwart witfoto, zwart wit foto"),
        (Concept::Smooth, "glad?, gladde, effen"),
        (Concept::Busy, "druk?, gedetailleerd~"),
        (Concept::Striped, "gestreept~, strepen"),
        (Concept::Blurry, "onscherp~, wazig~, vaag, vage?, bewogen?"),
        (Concept::Sharp, "scherp~"),
        (Concept::Grainy, "korrelig~, ruis"),
        (Concept::Panorama, "panoramafoto, panoramisch~"),
        (Concept::Upright, "staand~, verticaal, verticale, portretstand"),
        (Concept::Sideways, "liggend~?, horizontaal, horizontale, landschapsstand"),
        (Concept::Square, "vierkant~"),
        (Concept::Symmetric, "symmetrisch~"),
        (Concept::BlurredBackground, "onscherpe achtergrond, wazige achtergrond, macrofoto, close up"),
        (Concept::Minimal, "minimalistisch~, lege achtergrond, effen achtergrond"),
        (Concept::Page, "document, documenten, tekstpagina, gescand~"),
        (
            Concept::Sunset,
            "zonsondergang, zonsondergangen, zonsopgang, zonsopkomst, avondrood, gouden uur, schemering, \
            avondlicht",
        ),
        (Concept::Snow, "sneeuw, besneeuwd~, in de sneeuw, winters~, sneeuwlandschap"),
        (Concept::Night, "nacht, 's nachts, nachtelijk~, nachtfoto, in de nacht"),
        (Concept::BlueHour, "blauwe uur"),
        (Concept::BlueSky, "blauwe lucht, blauwe hemel, heldere hemel, wolkenloos, wolkenloze"),
        (Concept::Overcast, "bewolkt~, grijze lucht, betrokken lucht"),
        (Concept::Silhouette, "silhouet, silhouetten, tegenlicht"),
    ],
    dark: "donker~, diep~",
    light: "licht~, bleek, bleke",
    plain: "fel, felle, helder~",
    shades_follow: false,
    negations: "niet, geen, zonder, noch",
    ignored: "de, het, een, en, of, van, met, op, in, bij, te, aan, foto, foto's, beeld, beelden, afbeelding, kleur, \
        kleuren, tinten, achtergrond, veel, heel, erg, alle, mijn",
};
