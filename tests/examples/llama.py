#!/usr/bin/env python3
"""Writes a small model and a tokenizer as llama2.c does, and what the model says, by sums of Python's own floats.

usage: llama.py FOLDER KV_HEADS OWN_OUTPUT PROMPT COUNT -> FOLDER/model.bin, tokenizer.bin, expected
"""
import math
import random
import struct
import sys

FOLDER, KV_HEADS, OWN_OUTPUT, PROMPT, COUNT = (
    sys.argv[1], int(sys.argv[2]), sys.argv[3] == "yes", sys.argv[4], int(sys.argv[5]))
WIDTH, HIDDEN, LAYERS, HEADS, CONTEXT = 16, 24, 2, 4, 40
SIZE = WIDTH // HEADS
random.seed(3)

words = ["a", "b", "c", "d", " ", "ab", "cd", " a", " ab", "abcd", "é"]
texts = ["<unk>", "\n<s>\n", "\n</s>\n"] + [f"<0x{i:02X}>" for i in range(256)] + words
VOCABULARY = len(texts)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def matrix(rows, columns, deviation=0.4):
    return [[single(random.gauss(0, deviation)) for _ in range(columns)] for _ in range(rows)]


tokens = matrix(VOCABULARY, WIDTH, 1)
layers = [{
    "norm1": matrix(1, WIDTH, 1)[0], "q": matrix(WIDTH, WIDTH), "k": matrix(KV_HEADS * SIZE, WIDTH),
    "v": matrix(KV_HEADS * SIZE, WIDTH), "o": matrix(WIDTH, WIDTH), "norm2": matrix(1, WIDTH, 1)[0],
    "w1": matrix(HIDDEN, WIDTH), "w2": matrix(WIDTH, HIDDEN), "w3": matrix(HIDDEN, WIDTH)} for _ in range(LAYERS)]
last = matrix(1, WIDTH, 1)[0]
out = matrix(VOCABULARY, WIDTH, 1) if OWN_OUTPUT else tokens

with open(f"{FOLDER}/model.bin", "wb") as file:
    vocabulary = -VOCABULARY if OWN_OUTPUT else VOCABULARY
    file.write(struct.pack("7i", WIDTH, HIDDEN, LAYERS, HEADS, KV_HEADS, vocabulary, CONTEXT))

    def write(rows):
        for row in rows:
            file.write(struct.pack(f"{len(row)}f", *row))

    write(tokens)
    for name in ("norm1", "q", "k", "v", "o", "norm2", "w1", "w2", "w3"):
        for layer in layers:
            write([layer[name]] if name.startswith("norm") else layer[name])
    write([last])
    write([[0] * (SIZE // 2)] * CONTEXT * 2)
    if OWN_OUTPUT:
        write(out)
with open(f"{FOLDER}/tokenizer.bin", "wb") as file:
    file.write(struct.pack("i", max(len(text.encode()) for text in texts)))
    for number, text in enumerate(texts):
        raw = text.encode()
        file.write(struct.pack("fi", number, len(raw)) + raw)


def encode(text):
    result = [1]
    if not text:
        return result
    for character in " " + text:
        if character in words:
            result.append(texts.index(character))
        else:
            result += [byte + 3 for byte in character.encode()]
    while True:
        pairs = [(texts.index(texts[a] + texts[b]), -i) for i, (a, b) in enumerate(zip(result, result[1:]))
                 if i > 0 and texts[a] + texts[b] in texts]
        if not pairs:
            return result
        best, at = max(pairs)
        result[-at:-at + 2] = [best]


def times(weight, x):
    return [math.fsum(a * b for a, b in zip(row, x)) for row in weight]


def norm(weight, x):
    scale = 1 / math.sqrt(math.fsum(a * a for a in x) / len(x) + 1e-5)
    return [a * scale * w for a, w in zip(x, weight)]


def rotate(x, position):
    result = list(x)
    for i in range(0, len(x), 2):
        angle = position * 10000 ** (-(i % SIZE) / SIZE)
        c, s = math.cos(angle), math.sin(angle)
        result[i], result[i + 1] = x[i] * c - x[i + 1] * s, x[i] * s + x[i + 1] * c
    return result


caches = [([], []) for _ in layers]


def forward(token, position):
    x = list(tokens[token])
    for layer, (keys, values) in zip(layers, caches):
        y = norm(layer["norm1"], x)
        keys.append(rotate(times(layer["k"], y), position))
        values.append(times(layer["v"], y))
        q, joined = rotate(times(layer["q"], y), position), []
        for head in range(HEADS):
            at, own = head // (HEADS // KV_HEADS) * SIZE, q[head * SIZE:(head + 1) * SIZE]
            scores = [math.fsum(a * b for a, b in zip(own, key[at:at + SIZE])) / math.sqrt(SIZE) for key in keys]
            weights = [math.exp(score - max(scores)) for score in scores]
            total = math.fsum(weights)
            joined += [math.fsum(w * value[at + i] for w, value in zip(weights, values)) / total for i in range(SIZE)]
        x = [a + b for a, b in zip(x, times(layer["o"], joined))]
        y = norm(layer["norm2"], x)
        gate = [a / (1 + math.exp(-a)) * b for a, b in zip(times(layer["w1"], y), times(layer["w3"], y))]
        x = [a + b for a, b in zip(x, times(layer["w2"], gate))]
    return times(out, norm(last, x))


prompt, before, said = encode(PROMPT), 1, b""
token = prompt[0]
for position in range(min(len(prompt) + COUNT - 1, CONTEXT)):
    logits = forward(token, position)
    token = prompt[position + 1] if position + 1 < len(prompt) else max(range(VOCABULARY), key=logits.__getitem__)
    if token in (1, 2):
        break
    text = texts[token]
    raw = bytes([int(text[3:5], 16)]) if text.startswith("<0x") else text.encode()
    said += raw[1:] if before == 1 and raw.startswith(b" ") else raw
    before = token
with open(f"{FOLDER}/expected", "wb") as file:
    file.write(said + b"\n")
