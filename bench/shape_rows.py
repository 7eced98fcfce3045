"""Rows of shape-bench and peers_shapes.py: read from a file, or drawn at random to find shapes that nobody thought of.

usage: shape_rows.py --random N --seed S > ROWS     (the standing list is shape_rows.txt)"""
import argparse
import random
from dataclasses import dataclass

DTYPES = ("f32", "bf16", "f16", "f8_e4m3", "f8_e5m2", "i8")
# How many sizes each operation takes.
SIZES = {
    "softmax": 2, "softmax_backward": 2, "layer_norm": 2, "layer_norm_backward": 2, "rms_norm": 2,
    "rms_norm_backward": 2, "batch_norm": 3, "batch_norm_backward": 3, "batch_norm_step": 3, "group_norm_32": 3,
    "group_norm_32_backward": 3, "group_norm_32_step": 3,
    "cross_entropy": 2, "cross_entropy_backward": 2,
    "matmul": 3, "linear": 3, "weight_gradient": 3, "matmul_batch": 4, "linear_gelu": 3, "linear_residual": 3,
    "gated_linear": 3, "added_linears": 3,
    "scaled_linear": 3, "scaled_linear_fast": 3, "scaled_linear_exact": 3,
    "linear_int8": 3, "linear_int8_block": 3, "linear_fp8": 3, "linear_int4": 3, "linear_nf4": 3,
    "conv3": 5, "conv3_bias_relu": 5, "conv3_backward": 5,
    **{name + order + direction: sizes
       for name, sizes in (("conv", 7), ("conv_strided", 6), ("conv_transpose", 6), ("conv1d", 5), ("conv3d", 7))
       for order in ("", "_last") for direction in ("", "_backward")},
    "sum_dim0": 2, "sum_dim1": 2, "argmax_dim1": 2, "sum_middle": 3, "max_middle": 3, "sum_dims02": 3,
    "var_mean_dims02": 3,
    "transpose": 2, "add_transposed": 2, "permute_021": 3, "permute_0213": 4, "cat_dim0": 2, "cat_dim1": 2,
    "embedding": 3, "index_select_dim1": 3, "gather_dim1": 3, "index_add": 3, "index_add_alike": 3,
    "max_pool_2": 4, "max_pool_3": 4, "avg_pool_2": 4, "avg_pool_3": 4,
    "gelu": 2, "add": 2, "add_row": 2, "mul_column": 2, "add_shifted": 2,
    "sort": 2, "argsort": 2, "topk_50": 2, "cumsum": 2,
}


@dataclass(frozen=True)
class Row:
    operation: str
    shape: tuple
    dtype: str

    @property
    def name(self):
        return f"{self.operation} {'x'.join(map(str, self.shape))} {self.dtype}"


def read_rows(path, only=""):
    rows = {}
    with open(path) as file:
        for line in file:
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 3:
                raise SystemExit(f"{path}: {line.strip()!r} is not: operation, shape, dtype")
            operation, sizes, dtype = words[0], words[1].split("x"), words[2]
            if (SIZES.get(operation) != len(sizes) or not all(map(str.isdecimal, sizes)) or dtype not in DTYPES):
                raise SystemExit(f"{path}: {line.strip()!r} has an unknown operation or dtype, or sizes that it does "
                                 "not take")
            row = Row(operation, tuple(map(int, sizes)), dtype)
            if row.name in rows:
                raise SystemExit(f"{path}: {row.name!r} is there twice")
            rows[row.name] = row
    return [row for row in rows.values() if only in row.name]


def size(random, low, high):
    """Evenly by the logarithm; a third of them are powers of two or one beside."""
    value = int(low * (high / low) ** random.random())
    if random.random() < 1 / 3:
        value = (1 << value.bit_length() - 1) + random.choice((-1, 0, 0, 1))
    return min(max(value, low), high)


def random_shape(random, operation, elements):
    """Of about that many elements."""
    if operation == "add_transposed":
        side = max(int(elements ** 0.5), 16)
        return side, side
    if operation in ("embedding", "index_select_dim1", "gather_dim1", "index_add", "index_add_alike"):
        columns = size(random, 16, 8192)
        rows = max(elements // columns, 16)
        return rows, columns, size(random, 16, columns if operation.endswith("_dim1") else rows)
    if operation.startswith(("batch_norm", "group_norm")):
        image = size(random, 16, 12544)
        channels = 32 * size(random, 1, 64) if operation.startswith("group_norm") else size(random, 3, 2048)
        return max(elements // (image * channels), 2), channels, image
    if "pool" in operation:
        height, width = size(random, 7, 256), size(random, 7, 256)
        channels = size(random, 1, 512)
        return max(elements // (height * width * channels), 1), channels, height, width
    sizes = []
    for _ in range(SIZES[operation] - 1):
        sizes.append(size(random, 16, max(16, min(200_000, elements // 16))))
        elements = max(elements // sizes[-1], 16)
    sizes.append(elements)
    random.shuffle(sizes)
    return tuple(sizes)


def random_rows(count, seed):
    drawn, rows = random.Random(seed), {}
    while len(rows) < count:
        operation = drawn.choice(list(SIZES))
        row = Row(operation, random_shape(drawn, operation, size(drawn, 1 << 16, 1 << 25)),
                  drawn.choice(("f32", "bf16")))
        rows[row.name] = row
    return list(rows.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, required=True, metavar="N", help="rows to draw")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same rows for the same seed (0)")
    arguments = parser.parse_args()
    print(f"# shape_rows.py --random {arguments.random} --seed {arguments.seed}")
    for row in random_rows(arguments.random, arguments.seed):
        print(row.name)
