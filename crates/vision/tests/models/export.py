"""Generates the tiny models for the tests of `vision::clip`, and their vectors of 50 pictures and 50 queries.

README.md describes how to run it. The weights are random, so the vectors have no meaning, but the graphs, tokenizers and
files have the form of real models. The expected vectors are computed from the same weights by transformers, tokenizers,
Pillow and PyTorch, without ONNX.
"""

import hashlib
import importlib.util
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
import sentencepiece
import torch
from PIL import Image
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (
    CLIPConfig,
    CLIPModel,
    CLIPTokenizer,
    GemmaTokenizer,
    SiglipConfig,
    SiglipModel,
    XLMRobertaConfig,
    XLMRobertaModel,
    XLMRobertaTokenizer,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.siglip import modeling_siglip
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

HERE = pathlib.Path(__file__).resolve().parent
SCRATCH = pathlib.Path(sys.argv[1])
SIDE, PATCH, WIDTH, EMBED = 32, 8, 32, 16


# --- pictures and queries; the tests in Rust use the same formulas ----------------------------------------------------


def size(i):
    fixed = [(32, 32), (64, 64), (1, 1), (300, 20), (20, 300), (31, 33), (33, 32), (2, 3), (128, 96), (97, 131)]
    return fixed[i] if i < len(fixed) else (1 + (i * i * 37 + 11 * i) % 180, 1 + (i * 53 + 7) % 170)


def picture(i):
    width, height = size(i)
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(3), indexing="ij")
    ramp = (x * (i % 11 + 1) * 256 // width + y * (i % 7 + 1) * 256 // height + c * 85 + i * 13) & 511
    ramp = np.where(ramp < 256, ramp, 511 - ramp)
    x, y, c = (part.astype(np.uint64) for part in (x, y, c))
    mask = np.uint64(0xFFFFFFFF)
    noise = (x * np.uint64(73856093)) ^ (y * np.uint64(19349663)) ^ ((c + np.uint64(1)) * np.uint64(83492791))
    noise = (noise ^ np.uint64(i * 2654435761)) & mask
    noise = ((noise ^ (noise >> np.uint64(13))) * np.uint64(1274126177)) & mask
    noise = (noise >> np.uint64(26)).astype(np.int64)
    return Image.fromarray(np.clip(ramp + noise - 32, 0, 255).astype(np.uint8), "RGB")


def queries():
    texts = json.loads((HERE / "queries.json").read_text())
    texts[-2] = " ".join(f"word{i} Photo of {i} boats" for i in range(100))
    texts[-1] = "!?-" * 500 + " end"
    assert len(texts) == 50
    return texts


# --- weights ----------------------------------------------------------------------------------------------------------


def randomise(model, seed):
    """Sets random weights that are large enough for different pictures and words to have clearly different vectors."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name.lower() and name.endswith("weight"):
                parameter.normal_(1.0, 0.1)
            elif "norm" in name.lower() or name.endswith("bias"):
                parameter.normal_(0.0, 0.1)
            else:
                parameter.normal_(0.0, 0.3)
            # Few bits, so that the files compress well.
            parameter.copy_((parameter * 256).round() / 256)
    return model.eval()


class Visual(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        features = self.model.get_image_features(pixel_values=image)
        features = features if isinstance(features, torch.Tensor) else features.pooler_output
        return torch.nn.functional.normalize(features, dim=-1)


class VisualBytes(torch.nn.Module):
    """Takes bytes, row by row, as newer published graphs do."""

    def __init__(self, model):
        super().__init__()
        self.visual = Visual(model)

    def forward(self, image):
        return self.visual((image.to(torch.float32).permute(0, 3, 1, 2) / 255.0 - 0.5) / 0.5)


class Textual(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, text):
        features = self.model.get_text_features(input_ids=text)
        features = features if isinstance(features, torch.Tensor) else features.pooler_output
        return torch.nn.functional.normalize(features, dim=-1)


class TextualMean(torch.nn.Module):
    """Multilingual CLIP: the mean of the words' states, through a linear layer."""

    def __init__(self, transformer, seed):
        super().__init__()
        self.transformer = transformer
        self.linear = torch.nn.Linear(WIDTH, EMBED)
        randomise(self.linear, seed)

    def forward(self, input_ids, attention_mask):
        states = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        states = (states * attention_mask.unsqueeze(2)).sum(dim=1) / attention_mask.sum(dim=1)[:, None]
        return torch.nn.functional.normalize(self.linear(states), dim=-1)


# --- tokenizers -------------------------------------------------------------------------------------------------------


def corpus():
    lines = [query.lower() for query in queries() for _ in range(3)]
    for path in sorted((HERE.parents[3] / "docs").glob("*.md"))[:6]:
        lines += path.read_text().lower().splitlines()[:150]
    return [line for line in lines if line.strip()]


def clip_tokenizer():
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained = Tokenizer(models.BPE(end_of_word_suffix="</w>", continuing_subword_prefix=""))
    shape = CLIPTokenizer()._tokenizer
    trained.normalizer, trained.pre_tokenizer = shape.normalizer, shape.pre_tokenizer
    trainer = trainers.BpeTrainer(
        vocab_size=800, initial_alphabet=sorted(alphabet), end_of_word_suffix="</w>", show_progress=False
    )
    trained.train_from_iterator(corpus(), trainer)
    merges = [tuple(pair) for pair in json.loads(trained.to_str())["model"]["merges"]]
    # In the order of OpenAI's: the bytes, the bytes that end a word, the merges, the two special tokens.
    tokens = sorted(alphabet) + [letter + "</w>" for letter in sorted(alphabet)]
    tokens += [left + right for left, right in merges]
    tokens = list(dict.fromkeys(tokens)) + ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    return CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77)


def gemma_tokenizer():
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    special += [f"<0x{byte:02X}>" for byte in range(256)]
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=special, limit_alphabet=90, show_progress=False)
    trained.train_from_iterator(corpus(), trainer)
    model = json.loads(trained.to_str())["model"]
    return GemmaTokenizer(
        vocab=model["vocab"],
        merges=[tuple(pair) for pair in model["merges"]],
        add_bos_token=False,
        add_eos_token=True,
        padding_side="right",
        model_max_length=64,
    )


def xlm_tokenizer():
    (SCRATCH / "corpus.txt").write_text("\n".join(corpus()))
    sentencepiece.SentencePieceTrainer.train(
        input=str(SCRATCH / "corpus.txt"),
        model_prefix=str(SCRATCH / "xlm"),
        vocab_size=700,
        model_type="unigram",
        character_coverage=0.98,
        normalization_rule_name="nmt_nfkc",
        num_threads=1,
        minloglevel=2,
    )
    from sentencepiece import sentencepiece_model_pb2 as layout

    trained = layout.ModelProto()
    trained.ParseFromString((SCRATCH / "xlm.model").read_bytes())
    pieces = [(piece.piece, piece.score) for piece in trained.pieces][3:]
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    return XLMRobertaTokenizer(
        vocab=special + pieces + [("<mask>", 0.0)],
        _spm_precompiled_charsmap=trained.normalizer_spec.precompiled_charsmap,
        model_max_length=512,
    )


# --- files ------------------------------------------------------------------------------------------------------------


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def export(module, arguments, path, names, newest):
    # A prefix, because the graph has other values with simple names.
    output = f"{path.parent.name}_embedding" if newest else "embedding"
    path.parent.mkdir(parents=True, exist_ok=True)
    if newest:
        batch = torch.export.Dim("batch")
        two = tuple(torch.cat([argument, argument]) for argument in arguments)
        torch.onnx.export(
            module,
            two,
            str(path),
            input_names=names,
            output_names=[output],
            opset_version=23,
            dynamo=True,
            external_data=False,
            dynamic_shapes=[{0: batch} for _ in arguments],
        )
    else:
        torch.onnx.export(
            module, arguments, str(path), input_names=names, output_names=[output], opset_version=17, dynamo=False
        )
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    del model.graph.value_info[:]
    del model.graph.metadata_props[:]
    onnx.save(model, path)


def tokenizer_files(tokenizer, folder):
    tokenizer.save_pretrained(SCRATCH / "tokenizer")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]:
        if (SCRATCH / "tokenizer" / name).exists():
            shutil.copy(SCRATCH / "tokenizer" / name, folder / name)
    shutil.rmtree(SCRATCH / "tokenizer")


def references(folder, processor, visual, tokenizer, clean, length, textual):
    pictures = []
    for i in range(50 if visual else 0):
        pixels = processor(picture(i), return_tensors="pt")["pixel_values"]
        with torch.no_grad():
            pictures.append([round(float(v), 6) for v in visual(pixels)[0]])
    words = []
    for text in queries():
        tokens = tokenizer(
            clean(text), padding="max_length", truncation=True, max_length=length, return_tensors="pt"
        )
        with torch.no_grad():
            vector = textual(tokens)[0]
        ids = tokens["input_ids"][0].tolist()
        words.append({"ids": ids, "vector": [round(float(v), 6) for v in vector]})
    # The digest of the pictures, so that a test can distinguish a wrong formula from a wrong vector.
    digest = hashlib.sha256(b"".join(picture(i).tobytes() for i in range(50))).hexdigest()
    # One picture or query per line.
    lines = lambda values: "[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]"
    (folder / "expected.json").write_text(
        f'{{"pictures_sha256": "{digest}",\n"pictures": {lines(pictures)},\n"queries": {lines(words)}}}\n'
    )
    for vectors in (np.array(pictures), np.array([word["vector"] for word in words])):
        if not len(vectors):
            continue
        cosines = vectors @ vectors.T
        print(folder.name, "mean cosine", cosines.mean(), "near twins", int((cosines > 0.9999).sum()) - 50)


OPENAI = {"mean": [0.48145466, 0.4578275, 0.40821073], "std": [0.26862954, 0.26130258, 0.27577711]}


def clip(folder):
    tokenizer = clip_tokenizer()
    config = CLIPConfig(
        projection_dim=EMBED,
        text_config=dict(
            vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2,
            num_attention_heads=2, max_position_embeddings=77, hidden_act="quick_gelu", projection_dim=EMBED,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        ),
        vision_config=dict(
            hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=SIDE,
            patch_size=PATCH, hidden_act="quick_gelu", projection_dim=EMBED,
        ),
    )
    model = randomise(CLIPModel(config), 1)
    processor = CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    export(Visual(model), (torch.randn(1, 3, SIDE, SIDE),), folder / "visual/model.onnx", ["image"], False)
    export(Textual(model), (torch.ones(1, 77, dtype=torch.int32),), folder / "textual/model.onnx", ["text"], False)
    tokenizer_files(tokenizer, folder / "textual")
    write_json(folder / "visual/preprocess_cfg.json", {
        "size": [SIDE, SIDE], "mode": "RGB", **OPENAI, "interpolation": "bicubic", "resize_mode": "shortest",
        "fill_color": 0,
    })
    write_json(folder / "config.json", {
        "embed_dim": EMBED,
        "vision_cfg": {"image_size": SIDE, "layers": 2, "width": WIDTH, "patch_size": PATCH},
        "text_cfg": {"context_length": 77, "vocab_size": len(tokenizer), "width": WIDTH, "heads": 2, "layers": 2},
    })
    references(
        folder, processor, Visual(model), tokenizer, lambda text: " ".join(text.split()), 77,
        lambda tokens: Textual(model)(tokens["input_ids"]),
    )


def siglip2(folder):
    tokenizer = gemma_tokenizer()
    config = SiglipConfig(
        text_config=dict(
            vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2,
            num_attention_heads=2, max_position_embeddings=64, projection_size=WIDTH,
        ),
        vision_config=dict(
            hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=SIDE,
            patch_size=PATCH,
        ),
    )
    model = randomise(SiglipModel(config), 2)
    processor = SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE}, resample=Image.Resampling.BICUBIC)
    export(
        VisualBytes(model), (torch.zeros(1, SIDE, SIDE, 3, dtype=torch.uint8),), folder / "visual/model.onnx",
        ["image"], True,
    )
    # Without this, transformers would add a mask without effect to the graph, which graphs of OpenCLIP do not have.
    masks, modeling_siglip.create_bidirectional_mask = modeling_siglip.create_bidirectional_mask, lambda *_, **__: None
    export(Textual(model), (torch.ones(1, 64, dtype=torch.int32),), folder / "textual/model.onnx", ["text"], True)
    modeling_siglip.create_bidirectional_mask = masks
    tokenizer_files(tokenizer, folder / "textual")
    write_json(folder / "visual/preprocess_cfg.json", {
        "size": [SIDE, SIDE], "mode": "RGB", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5],
        "interpolation": "bicubic", "resize_mode": "squash", "fill_color": 0,
    })
    write_json(folder / "config.json", {
        "embed_dim": WIDTH,
        "init_logit_bias": -10,
        "custom_text": True,
        "vision_cfg": {
            "image_size": SIDE, "timm_model_name": "vit_tiny_patch8_siglip_32", "timm_model_pretrained": False,
            "timm_pool": "map", "timm_proj": "none",
        },
        "text_cfg": {
            "context_length": 64, "vocab_size": len(tokenizer), "hf_tokenizer_name": "none",
            "tokenizer_kwargs": {"clean": "canonicalize"}, "width": WIDTH, "heads": 2, "layers": 2,
            "no_causal_mask": True, "proj_bias": True, "pool_type": "last", "norm_kwargs": {"eps": 1e-6},
            "act_kwargs": {"approximate": "tanh"},
        },
    })
    # open_clip's text cleaning, loaded from its file, so that its other dependencies are not needed.
    place = importlib.util.find_spec("open_clip").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("open_clip_tokenizer", f"{place}/tokenizer.py")
    cleaning = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cleaning)
    references(
        folder, processor, Visual(model), tokenizer, cleaning.canonicalize_text, 64,
        lambda tokens: Textual(model)(tokens["input_ids"]),
    )


def xlm(folder):
    tokenizer = xlm_tokenizer()
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer), hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=80, type_vocab_size=1, pad_token_id=1, bos_token_id=0,
        eos_token_id=2, attn_implementation="eager",
    )
    textual = TextualMean(randomise(XLMRobertaModel(config, add_pooling_layer=False), 3), 4).eval()
    ones = torch.ones(1, 77, dtype=torch.int32)
    # The tests use the image encoder and the settings of `clip`.
    export(textual, (ones, ones), folder / "textual/model.onnx", ["input_ids", "attention_mask"], False)
    tokenizer_files(tokenizer, folder / "textual")
    references(
        folder, None, None, tokenizer, lambda text: " ".join(text.split()), 77,
        lambda tokens: textual(tokens["input_ids"], tokens["attention_mask"]),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)
    SCRATCH.mkdir(parents=True, exist_ok=True)
    clip(HERE / "clip")
    siglip2(HERE / "siglip2")
    xlm(HERE / "xlm")
