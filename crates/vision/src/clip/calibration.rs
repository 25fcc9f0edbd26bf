//! Calibration of cosine similarities per family of models.
//!
//! Training determines only the order of similarities, not their size: texts and pictures lie in two separate cones.
//! The similarity of a true match depends on the loss and the training data, so each family has its own curve. The
//! curves follow published figures and these rules: a match scores above 0.5, the best matches above 0.9, and random
//! pairs below 0.15.

use crate::Calibration;

struct Family {
    /// Parts of folder names, in lower case.
    names: &'static [&'static str],
    midpoint: f32,
    steepness: f32,
    min_similarity: f32,
}

/// The first matching family applies.
const FAMILIES: [Family; 5] = [
    // SigLIP 2 (arXiv 2502.14786) was trained with a sigmoid of 112 x cosine - 16.8: half probability is at 0.15. For
    // a photo of two cats, its authors' issue 180 has a probability of 0.37 for "two cats", 4e-4 for "a cat" and 2e-7
    // for "a dog": cosines of 0.14, 0.08 and 0.01.
    Family { names: &["siglip2"], midpoint: 0.075, steepness: 60.0, min_similarity: 0.04 },
    // NLLB-CLIP (arXiv 2309.01859): a multilingual text encoder trained for SigLIP's image encoder.
    // SigLIP (arXiv 2303.15343): 117 x cosine - 12.9, half at 0.11. For OpenAI's picture of a diagram, OpenCLIP's issue
    // 716 has -1.2, -8.9 and -10.9 for "a diagram", "a dog" and "a cat": cosines of 0.10, 0.03 and 0.02.
    Family { names: &["siglip", "nllb"], midpoint: 0.06, steepness: 75.0, min_similarity: 0.032 },
    // OpenCLIP's own on LAION (arXiv 2212.07143), DFN (arXiv 2309.17425) and similar models spread wider: random pairs
    // lie at 0 to 0.12, matches at 0.2 to 0.4. `xlm-roberta-large-vit-b-16plus` is a text encoder of M-CLIP trained for
    // OpenCLIP's ViT-B-16-plus-240. This entry must precede the next one, whose prefix also matches it.
    Family {
        names: &["laion", "xlm-roberta-large-vit-b-16plus", "dfn", "yfcc", "cc12m", "datacomp"],
        midpoint: 0.19,
        steepness: 35.0,
        min_similarity: 0.12,
    },
    // OpenAI's CLIP (arXiv 2103.00020). LAION-400M (arXiv 2111.02114) used 0.3 of ViT-B/32 as the threshold for a
    // picture and its caption, LAION-5B (arXiv 2210.08402) 0.28. Short words reach 0.22 to 0.28 (OpenAI's issue 405:
    // 0.25 for the right word, 0.19 for a wrong one), and random pairs 0.1 to 0.2. The other multilingual text encoders
    // of M-CLIP were trained to give the same vectors as OpenAI's.
    Family {
        names: &["openai", "xlm-roberta-large-vit-", "labse"],
        midpoint: 0.235,
        steepness: 45.0,
        min_similarity: 0.185,
    },
    // MetaCLIP (arXiv 2309.16671) follows OpenAI's recipe on other data.
    Family { names: &["metaclip"], midpoint: 0.235, steepness: 45.0, min_similarity: 0.185 },
];

/// The curve of unknown models.
const UNKNOWN: Family = Family { names: &[], midpoint: 0.21, steepness: 35.0, min_similarity: 0.14 };

/// The calibration of a model by the name of its folder. `sigmoid`: its settings are those of SigLIP.
pub(super) fn calibration(name: &str, sigmoid: bool) -> Calibration {
    let name = name.to_lowercase();
    let named = |family: &&Family| family.names.iter().any(|part| name.contains(part));
    let family = if sigmoid && !name.contains("siglip") && !name.contains("nllb") {
        FAMILIES.iter().find(|family| family.names.contains(&"siglip"))
    } else {
        FAMILIES.iter().find(named)
    };
    let Family { midpoint, steepness, min_similarity, .. } = *family.unwrap_or(&UNKNOWN);
    Calibration { midpoint, steepness, max_score: 1.0, min_similarity }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_follows_the_rules() {
        let check = |name: &str, sigmoid: bool, chance: f32, match_: f32, best: f32| {
            let calibration = calibration(name, sigmoid);
            let score = |cosine| calibration.score(cosine).unwrap_or(0.0);
            assert!(score(chance) < 0.15, "{name}: {}", score(chance));
            assert!(score(match_) > 0.5, "{name}: {}", score(match_));
            assert!(score(best) > 0.9, "{name}: {}", score(best));
        };
        check("ViT-B-32__openai", false, 0.17, 0.25, 0.30);
        check("XLM-Roberta-Large-Vit-B-32", false, 0.17, 0.25, 0.30);
        check("XLM-Roberta-Large-Vit-L-14", false, 0.17, 0.25, 0.30);
        check("LABSE-Vit-L-14", false, 0.17, 0.25, 0.30);
        check("XLM-Roberta-Large-Vit-B-16Plus", false, 0.10, 0.22, 0.30);
        check("XLM-Roberta-Large-ViT-H-14__frozen_laion5b_s13b_b90k", false, 0.10, 0.22, 0.30);
        check("ViT-B-32__laion2b-s34b-b79k", false, 0.10, 0.22, 0.30);
        check("XLM-Roberta-Base-ViT-B-32__laion5b_s13b_b90k", false, 0.10, 0.22, 0.30);
        check("ViT-H-14-378-quickgelu__dfn5b", false, 0.10, 0.22, 0.30);
        check("ViT-B-16-SigLIP__webli", true, 0.03, 0.08, 0.10);
        check("nllb-clip-base-siglip__v1", true, 0.03, 0.08, 0.10);
        check("my-own", true, 0.03, 0.08, 0.10);
        check("ViT-B-16-SigLIP2__webli", true, 0.03, 0.08, 0.14);
        check("my-own", false, 0.12, 0.22, 0.30);
    }
}
