#!/usr/bin/env python3
"""Methods and free functions are one set: x.softmax(1) and softmax(x, 1), for tensors with and without a rank.

Reads the declarations of the public headers behind the preprocessor. A function whose first parameter is a tensor
needs a method of its name, and the other way round; what has the one form only stands in a table below, with the
reason. Static functions and functions whose first parameter is no tensor (creators, cat, einsum) have no twin.

usage: twins.py INCLUDE_FOLDER COMPILER...
"""
import re
import subprocess
import sys

SAYS_ITS_TYPE = "its template argument says what type comes out, which has no form for AnyTensor"
HANDLE = "a property of the handle, no function of its elements"
READS = "reads or moves one tensor; read(a, b, c) reads several"
HISTORY = "says what belongs to a history; gradient() is the function"
OWN = "for Sinter's own layers"

LAYERS = ["layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"] + [
    f"{kind}_pool{n}d" for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for n in (1, 2, 3)] + [
    f"{kind}_pool{n}d_with_indices" for kind in ("max", "adaptive_max") for n in (1, 2, 3)] + ["deform_conv2d"]

METHODS_ALONE = {
    **dict.fromkeys(["all_axes", "defined", "device", "dims", "dtype", "dynamic", "numel", "rank", "requires_grad",
                     "shape"], HANDLE),
    **dict.fromkeys(["item", "read_bytes", "sync", "to_data", "to_device", "to_vector"], READS),
    **dict.fromkeys(["backward", "detach", "inner", "require_grad"], HISTORY),
    **dict.fromkeys(["node", "on_autodiff", "value"], OWN),
    **dict.fromkeys(["cast", "reshape_as", "to_bool", "to_float", "to_int"], "x.cast<Int>() reads as a conversion"),
    "all": "the name is the index of a whole axis: x(all, 0)",
    "std": "a function beside the namespace std would mislead",
    "place": "the inverse of slice, which gradients are made of",
}
FUNCTIONS_ALONE = {
    "linalg::": "a namespace of its own, as in NumPy and PyTorch: linalg::solve(a, b)",
    "nn::": "losses and layers: nn::mse(y, target)",
    **dict.fromkeys([*LAYERS, "linear", "embedding"],
                    "layers: their other operands are parameters"),
    "affine_grid_2d": "its operand is a map, no image",
    "gradient": "of one tensor with respect to others",
    "index": "x(s(1, 3), all) is the method",
    "index_assign": "x(s(1, 3), all) = y is the method",
    **dict.fromkeys(["complex", "polar", "view_as_complex"], "makes a complex number of real ones"),
    **dict.fromkeys(["describe", "quantize"], "its result is no tensor"),
    **dict.fromkeys(["rfft", "rfftn", "stft"], "a transform, as fft of complex numbers, of which it is a function alone"),
    "to_string": "the standard library's name for the text of a value",
    "where": "the condition is no more its subject than what it chooses from; x.mask_where(mask, y) is the method",
}
# What tensors without a rank have alone, and what those with one have.
ANY_ALONE = {
    **dict.fromkeys(["gather_nd", "scatter_nd", "scatter_nd_add", "scatter_nd_reduce", "index", "index_assign"],
                    "the rank of the result follows from a size, or from a list"),
    **dict.fromkeys(["all_axes", "node", "on_autodiff", "rank", "read_bytes", "value"], OWN),
    "place": "the inverse of slice, which gradients are made of",
    "to_string": "printing is the same for both",
}
TYPED_ALONE = {
    **dict.fromkeys(["dims", "dynamic", "item", "reshape_as", "to_bool", "to_float", "to_int", "to_vector", "quantize"],
                    SAYS_ITS_TYPE),
    "nn::": "losses and layers know the ranks of their operands",
    **dict.fromkeys(LAYERS, "losses and layers know the ranks of their operands"),
}

ANY_CLASSES = {"AnyTensor", "AnyFunctions"}
TYPED_CLASSES = {"Tensor", "TensorViews", "TensorMethods", "TensorFunctions"}
NAME = re.compile(r"[A-Za-z_]\w*$")
OPEN = {"(": ")", "{": "}"}


def tokens_of(include, compiler):
    """The tokens of Sinter's own headers, preprocessed."""
    command = [*compiler, "-std=c++20", "-E", "-I", include, "-x", "c++", "-"]
    text = subprocess.run(command, input="#include <sinter/sinter.h>\n", check=True, capture_output=True, text=True)
    ours, lines = False, []
    for line in text.stdout.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            ours = "/sinter/" in marker[1]
        elif ours:
            lines.append(line)
    source = re.sub(r"__attribute__ ?\(\(.*?\)\)\)?", "", "\n".join(lines))
    return re.findall(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|::|&&|\d[\w.\']*|\S', source)


def end_of(tokens, at):
    """Behind the bracket that closes the one at `at`."""
    depth, first = 0, tokens[at]
    while at < len(tokens):
        depth += (tokens[at] == first) - (tokens[at] == OPEN[first])
        at += 1
        if depth == 0:
            return at
    sys.exit(f"a bracket is not closed: {' '.join(tokens[-20:])}")


def without_constraints(declaration):
    kept, at = [], 0
    while at < len(declaration):
        if declaration[at] != "requires":
            kept.append(declaration[at])
            at += 1
            continue
        at += 1
        while at < len(declaration):  # terms that && and || join
            if declaration[at] == "requires":  # (parameters) { what has to be valid }
                at += 1
            while at < len(declaration) and declaration[at] in OPEN:
                at = end_of(declaration, at)
            if at < len(declaration) and NAME.match(declaration[at]) and declaration[at - 1] == "requires":
                at += 1
            if at < len(declaration) and declaration[at] in ("&&", "|"):
                at += 1
                continue
            break
    return kept


def begins_constraint(declaration):
    """Whether what follows in braces is what has to be valid: template <..> requires requires(T x) {."""
    at = len(declaration) - 1
    if declaration[at:] == [")"]:
        depth = 0
        while at >= 0:
            depth += (declaration[at] == ")") - (declaration[at] == "(")
            at -= 1
            if depth == 0:
                break
        return declaration[at:at + 1] == ["requires"] and declaration[at - 1] == "requires"
    return declaration[at:] == ["requires"]


def function_of(declaration):
    """{words before the name, name, first parameter} of a function's declaration, else None."""
    if "operator" in declaration:
        return None
    words = without_constraints(declaration)
    for at in range(1, len(words)):
        name = words[at - 1]
        if words[at] != "(" or not NAME.match(name) or name in ("decltype", "noexcept", "explicit", "alignas"):
            continue
        if at > 1 and words[at - 2] == "::":
            return None  # a member that is defined outside of its class
        first, angle = [], 0
        for word in words[at + 1:end_of(words, at) - 1]:
            angle += (word == "<") - (word == ">")
            if word == "," and angle == 0:
                break
            first.append(word)
        return words[:at - 1], name, " ".join(first)
    return None


class Reader:
    def __init__(self, tokens):
        self.tokens = tokens
        self.functions = {"any": set(), "typed": set()}
        self.methods = {"any": set(), "typed": set()}

    def note(self, namespaces, classes, access, declaration):
        function = function_of(declaration)
        if function is None or namespaces[:1] != ["sinter"]:
            return
        before, name, first = function
        if len(classes) == 1 and access == "public" and not {"static", "friend"} & set(before) and name != classes[0]:
            if classes[0] in ANY_CLASSES:
                self.methods["any"].add(name)
            if classes[0] in TYPED_CLASSES:
                self.methods["typed"].add(name)
        if not classes and namespaces[1:] in ([], ["linalg"], ["nn"]):
            name = "".join(space + "::" for space in namespaces[1:]) + name
            if re.match(r"(const )?(AnyTensor|T)\b(?! ::)", first):
                self.functions["any"].add(name)
            if re.match(r"(const )?(Tensor <|T\b)", first):
                self.functions["typed"].add(name)

    def read(self, at=0, namespaces=(), classes=(), access="public"):
        """Reads a scope from the token at `at`; returns what stands behind its end."""
        namespaces, classes, declaration = list(namespaces), list(classes), []
        while at < len(self.tokens):
            token = self.tokens[at]
            if token == "}":
                return at + 1
            if token == "(":
                end = end_of(self.tokens, at)
                declaration += self.tokens[at:end]
                at = end
            elif token == ";":
                self.note(namespaces, classes, access, declaration)
                declaration = []
                at += 1
            elif token == ":" and declaration in (["public"], ["private"], ["protected"]):
                access, declaration = declaration[0], []
                at += 1
            elif token == "{":
                at, declaration = self.read_braces(at, namespaces, classes, access, declaration)
            else:
                declaration.append(token)
                at += 1
        return at

    def read_braces(self, at, namespaces, classes, access, declaration):
        if "namespace" in declaration:
            names = [word for word in declaration[declaration.index("namespace") + 1:] if word not in ("::", "inline")]
            return self.read(at + 1, namespaces + names, classes), []
        angle, keyword = 0, None
        for place, word in enumerate(declaration):
            angle += (word == "<") - (word == ">")
            if word in ("class", "struct", "union", "enum") and angle == 0 and "(" not in declaration:
                keyword = place
                break
        if keyword is not None and declaration[keyword] != "enum":
            name = declaration[keyword + 1] if keyword + 1 < len(declaration) else ""
            first = "private" if declaration[keyword] == "class" else "public"
            return self.read(at + 1, namespaces, classes + [name], first), []
        end = end_of(self.tokens, at)
        if keyword is not None or declaration[-1:] == ["="] or "concept" in declaration:
            return end, declaration + ["{}"]
        if begins_constraint(declaration):
            return end, declaration + self.tokens[at:end]
        self.note(namespaces, classes, access, declaration)
        return end, []


def is_excepted(name, table, used):
    for row in table:
        if name == row or (row.endswith("::") and name.startswith(row)):
            used.add((id(table), row))
            return True
    return False


def main():
    reader = Reader(tokens_of(sys.argv[1], sys.argv[2:]))
    reader.read()
    functions, methods = reader.functions, reader.methods
    comparisons = [
        (functions["any"], methods["any"], FUNCTIONS_ALONE, "a function of AnyTensor, but no method"),
        (functions["typed"], methods["typed"], FUNCTIONS_ALONE, "a function of Tensor, but no method"),
        (methods["any"], functions["any"], METHODS_ALONE, "a method of AnyTensor, but no function"),
        (methods["typed"], functions["typed"], METHODS_ALONE, "a method of Tensor, but no function"),
        (functions["any"], functions["typed"], ANY_ALONE, "a function of AnyTensor, but none of Tensor"),
        (functions["typed"], functions["any"], TYPED_ALONE, "a function of Tensor, but none of AnyTensor"),
        (methods["any"], methods["typed"], ANY_ALONE, "a method of AnyTensor, but none of Tensor"),
        (methods["typed"], methods["any"], TYPED_ALONE, "a method of Tensor, but none of AnyTensor"),
    ]
    failures, used = [], set()
    for have, need, table, what in comparisons:
        for name in sorted(have - need):
            if not is_excepted(name, table, used):
                failures.append(f"{name} is {what}")
    for table in (FUNCTIONS_ALONE, METHODS_ALONE, ANY_ALONE, TYPED_ALONE):
        failures += [f"{row} stands in a table of exceptions, and is none" for row in table if (id(table), row) not in used]
    count = len(functions["any"] | functions["typed"])
    print(f"{count} functions, {len(methods['any'] | methods['typed'])} methods, {len(failures)} failures")
    if count < 200:
        failures.append("hardly any function was found")
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
