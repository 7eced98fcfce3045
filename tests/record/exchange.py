#!/usr/bin/env python3
"""Files go from Sinter to a reader of the formats' specifications, and from a writer to Sinter.

The reader and the writer know nothing of Sinter: safetensors as https://huggingface.co/docs/safetensors has it, with the
checks of its reference implementation (header of at most 100 MB that begins with {, offsets without gaps or overlaps),
Hugging Face's index of several files, MessagePack of https://github.com/msgpack/msgpack. They need no package, so that
every machine can run this. Where Hugging Face's own packages are installed, safetensors for Python or @huggingface/hub
for node, these read what Sinter writes as well, and Sinter reads what the first of them writes; where there is
PyTorch, a model's weights go there and back, and it gives the same in both.

usage: exchange.py PROGRAM
"""
import gzip
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1, "BOOL": 1}
CODES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "U8": "B", "BOOL": "?"}
NAMES = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "I64": "i64", "I32": "i32", "U8": "u8", "BOOL": "bool"}


def pack(dtype, values):
    if dtype == "BF16":  # the upper half of an f32; these values are exact
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{CODES[dtype]}", *values)


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


BF16_LARGE = struct.unpack("<f", b"\0\0" + b"\x62\xff")[0]
SAMPLE = {
    "layers.0.weight": ("F32", [2, 3], pack("F32", [1, -2, 0.1, 1e-45, 3e38, -0.0])),
    "f64": ("F64", [2], pack("F64", [0.1, -1e300])),
    "bf16": ("BF16", [2], pack("BF16", [1.5, BF16_LARGE])),
    "f16": ("F16", [3], pack("F16", [1.5, 65504, 6e-8])),
    "i32": ("I32", [1, 2], pack("I32", [-7, 2**31 - 1])),
    "i64": ("I64", [], pack("I64", [-5_000_000_000])),
    "u8": ("U8", [3], bytes([0, 128, 255])),
    "empty": ("F32", [0, 4], b""),
    "bool \u00e4": ("BOOL", [3], bytes([1, 0, 1])),
}
TEXTS = {"format": "pt", "note": '"\u00e4" and\nmore'}


def read_safetensors(content):
    """As the reference implementation: tensors and texts, or an assertion."""
    length, = struct.unpack("<Q", content[:8])
    assert length <= 100_000_000 and content[8:9] == b"{", "header"
    header = json.loads(content[8:8 + length].decode("utf-8"), object_pairs_hook=once)
    texts = header.pop("__metadata__", {})
    assert all(isinstance(text, str) for text in texts.values())
    data = content[8 + length:]
    at, tensors = 0, {}
    for name, info in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(info) == {"dtype", "shape", "data_offsets"}, info
        begin, end = info["data_offsets"]
        assert begin == at and end - begin == math.prod(info["shape"]) * SIZES[info["dtype"]], info
        tensors[name], at = (info["dtype"], info["shape"], data[begin:end]), end
    assert at == len(data), "bytes behind the last tensor"
    return tensors, texts


def once(pairs):
    assert len(pairs) == len(dict(pairs)), "a name appears twice"
    return dict(pairs)


def write_safetensors(tensors, texts):
    header, data = {"__metadata__": texts} if texts else {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def read_msgpack(content):
    value, at = unpacked(content, 0)
    assert at == len(content)
    return value


def unpacked(b, at):
    """A value and the place behind it, of the kinds that records have."""
    code, at = b[at], at + 1

    def run(format_of_size):
        size = struct.calcsize(format_of_size)
        return struct.unpack(format_of_size, b[at:at + size])[0], at + size

    def items(count, at):
        values = []
        for _ in range(count):
            value, at = unpacked(b, at)
            values.append(value)
        return values, at

    if code <= 0x7F:
        return code, at
    if code <= 0x8F or code in (0xDE, 0xDF):
        count, at = (code & 15, at) if code <= 0x8F else run(">H" if code == 0xDE else ">I")
        flat, at = items(2 * count, at)
        return once(list(zip(flat[::2], flat[1::2]))), at
    if code <= 0x9F:
        return items(code & 15, at)
    if code <= 0xBF or code in (0xD9, 0xDA, 0xDB):
        size, at = (code & 31, at) if code <= 0xBF else run({0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}[code])
        return b[at:at + size].decode("utf-8"), at + size
    if code in (0xC4, 0xC5, 0xC6):
        size, at = run({0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}[code])
        return b[at:at + size], at + size
    if code in (0xCC, 0xCD, 0xCE, 0xCF):
        return run({0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}[code])
    raise AssertionError(f"code {code:x}")


def described(root, elements):
    assert root["format"] == "sinter.record"
    return {name: (t["dtype"], t["shape"], elements(t)) for name, t in root["tensors"].items()}, root["texts"]


def numbers(tensor):
    special = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    return pack(tensor["dtype"], [special.get(v, v) if isinstance(v, str) else v for v in tensor["data"]])


def printed(tensors, texts):
    """What the program prints of a record."""
    lines = [f"text {key} {len(text.encode('utf-8'))}" for key, text in sorted(texts.items())]
    for name, (dtype, shape, content) in sorted(tensors.items(), key=lambda item: item[0].encode("utf-8")):
        lines.append(f"{name} {NAMES[dtype]} ({', '.join(map(str, shape))}) {content.hex()}")
    return "\n".join(lines) + "\n"


def with_python_package(folder, content, read):
    """Through the package safetensors, what it writes of PyTorch's tensors; says whether there is one."""
    try:
        import safetensors
    except ImportError:
        return False
    found = {name: (tensor["dtype"], list(tensor["shape"]), bytes(tensor["data"]))
             for name, tensor in safetensors.deserialize(content)}
    assert found == SAMPLE, found
    try:
        import torch
        from safetensors.torch import save
    except ImportError:
        return True
    dtypes = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
              "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8, "BOOL": torch.bool}
    tensors = {}
    for name, (dtype, shape, data) in SAMPLE.items():
        tensors[name] = torch.empty(shape, dtype=dtypes[dtype])
        if data:
            tensors[name] = torch.frombuffer(bytearray(data), dtype=dtypes[dtype]).reshape(shape)
    (folder / "e.safetensors").write_bytes(save(tensors, TEXTS))
    assert read("e.safetensors") == printed(SAMPLE, TEXTS)
    return True


def with_node_package(folder):
    """Through the package @huggingface/hub, which reads headers; says whether there is one."""
    node = shutil.which("node")
    if not node or subprocess.run([node, "-e", "require.resolve('@huggingface/hub')"], capture_output=True).returncode != 0:
        return False

    def headers(file):
        script = pathlib.Path(__file__).with_name("huggingface.cjs")
        return json.loads(subprocess.run([node, script, folder, file], check=True, capture_output=True).stdout)

    def kinds(header):
        return {name: (tensor["dtype"], tensor["shape"]) for name, tensor in header.items() if name != "__metadata__"}

    expected = {name: (dtype, shape) for name, (dtype, shape, _) in SAMPLE.items()}
    whole = headers("a.safetensors")["header"]
    assert kinds(whole) == expected, whole
    assert whole["__metadata__"]["note"] == TEXTS["note"]
    parts = headers("parts.safetensors.index.json")
    assert parts["sharded"] and len(parts["headers"]) > 2
    joined = {name: kind for header in parts["headers"].values() for name, kind in kinds(header).items()}
    assert joined == expected, joined
    return True


def with_torch(folder, content, program):
    """The weights of a model go to PyTorch and back, and it gives the same there; says whether there is one."""
    try:
        import torch
    except ImportError:
        return False
    model = torch.nn.ModuleDict({
        "words": torch.nn.Embedding(11, 4), "lstm": torch.nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True),
        "conv": torch.nn.Conv2d(1, 3, (3, 2), stride=(1, 2)), "norm": torch.nn.BatchNorm2d(3),
        "last": torch.nn.LayerNorm(3), "head": torch.nn.Linear(3, 2)}).eval()

    def compare(file):
        ids = torch.arange(12).reshape(2, 6) % 11
        y = model["lstm"](model["words"](ids))[0].unsqueeze(1)
        image = torch.relu(model["norm"](model["conv"](y)))
        expected = model["head"](model["last"](image.mean((2, 3)))).flatten().tolist()
        found = subprocess.run([program, "infer", folder / file], check=True, capture_output=True).stdout.split()
        assert len(found) == len(expected) == 4
        assert all(abs(float(a) - b) < 1e-5 for a, b in zip(found, expected)), (found, expected)

    tensors, _ = read_safetensors(content["model-of-sinter.safetensors"])
    state = {name: torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
             for name, (dtype, shape, data) in tensors.items()}
    left = model.load_state_dict(state, strict=False)
    assert set(left.missing_keys) <= {"norm.num_batches_tracked"} and not left.unexpected_keys, left
    compare("model-of-sinter.safetensors")

    # Other weights, with the count that PyTorch has beside them.
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.mul_(2)
    kinds = {torch.float32: ("F32", "<%df"), torch.int64: ("I64", "<%dq")}
    written = {}
    for name, tensor in model.state_dict().items():
        dtype, form = kinds[tensor.dtype]
        written[name] = (dtype, list(tensor.shape), struct.pack(form % tensor.numel(), *tensor.flatten().tolist()))
    (folder / "model-of-torch.safetensors").write_bytes(write_safetensors(written, {"format": "pt"}))
    compare("model-of-torch.safetensors")
    return True


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([program, "write", name], check=True)

        def read(file):
            return subprocess.run([program, "read", folder / file], check=True, capture_output=True).stdout.decode("utf-8")

        # From Sinter.
        content = {file.name: file.read_bytes() for file in folder.iterdir()}
        plain = {"a.safetensors": content["a.safetensors"], "a.safetensors.gz": gzip.decompress(content["a.safetensors.gz"])}
        for file, whole in plain.items():
            tensors, texts = read_safetensors(whole)
            assert tensors == SAMPLE, (file, tensors)
            assert len(texts.pop("sinter.checksum")) == 32 and texts == TEXTS, texts
        assert described(read_msgpack(content["a.msgpack"]), lambda t: t["data"]) == (SAMPLE, TEXTS)
        assert described(json.loads(content["a.json"]), numbers) == (SAMPLE, TEXTS)
        assert described(json.loads(gzip.decompress(content["a.json.gz"])), numbers) == (SAMPLE, TEXTS)
        index = json.loads(content["parts.safetensors.index.json"])
        joined = {}
        for file in set(index["weight_map"].values()):
            tensors, texts = read_safetensors(content[file])
            assert texts["format"] == "pt", "transformers asks for this in each file"
            assert all(index["weight_map"][name] == file for name in tensors)
            joined.update(tensors)
        assert joined == SAMPLE
        assert index["metadata"]["total_size"] == sum(len(data) for _, _, data in SAMPLE.values())
        assert len(set(index["weight_map"].values())) > 2

        # To Sinter.
        (folder / "b.safetensors").write_bytes(write_safetensors(SAMPLE, TEXTS))
        (folder / "b.safetensors.gz").write_bytes(gzip.compress(write_safetensors(SAMPLE, TEXTS)))
        assert read("b.safetensors") == read("b.safetensors.gz") == printed(SAMPLE, TEXTS), read("b.safetensors")
        (folder / "c.safetensors").write_bytes(write_safetensors(dict(reversed(SAMPLE.items())), {}))
        assert read("c.safetensors") == printed(SAMPLE, {})
        root = {"format": "sinter.record", "texts": TEXTS,
                "tensors": {"x": {"dtype": "F32", "shape": [3], "data": [1, 2.5, "NaN"]}}}
        (folder / "d.json").write_text(json.dumps(root), encoding="utf-8")
        assert read("d.json") == printed({"x": ("F32", [3], struct.pack("<3I", 0x3F800000, 0x40200000, 0x7FC00000))}, TEXTS)
        # As Hugging Face names the files of a model.
        halves = [dict(list(SAMPLE.items())[:4]), dict(list(SAMPLE.items())[4:])]
        weight_map = {}
        for i, half in enumerate(halves):
            file = f"model-{i + 1:05}-of-00002.safetensors"
            (folder / file).write_bytes(write_safetensors(half, {"format": "pt"}))
            weight_map.update({name: file for name in half})
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}), encoding="utf-8")
        for file in ("model.safetensors", "model.safetensors.index.json"):
            assert read(file) == printed(SAMPLE, {"format": "pt"})
        # What Sinter writes and reads again is the same.
        for file in content:
            if not file.startswith(("parts-", "model-")):
                assert read(file) == printed(SAMPLE, TEXTS), file
        others = {"safetensors": with_python_package(folder, content["a.safetensors"], read),
                  "@huggingface/hub": with_node_package(folder), "torch": with_torch(folder, content, program)}
    print("exchanged", len(SAMPLE), "tensors in", len(content), "files;",
          ", ".join(f"{name}: {'read them' if was else 'not installed'}" for name, was in others.items()))


main()
