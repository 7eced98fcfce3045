"""What the pages and the comments name is there: files, links, functions, environment variables, tests, build options;
figures are those of the golden files.

usage: names.py ROOT BUILD     BUILD: where meson keeps its lists of tests and options
"""
import fnmatch
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
COLUMNS = 110

# Beside these there are build folders, and what a program leaves behind.
FOLDERS = ("bench", "dependencies", "docs", "examples", "include", "jit", "kernels", "scripts", "src", "tests", "tools")
SOURCES = {".cpp", ".h", ".cu", ".comp", ".def", ".py", ".sh", ".build", ".in", ".txt", ".plan", ""}
# In a page, the end of a name that is a file of ours; other ends are files that users have.
OURS = (".cpp", ".h", ".cu", ".comp", ".def", ".py", ".sh", ".build", ".md", ".plan")
# Named by pages, and not in a checkout.
ELSEWHERE = {"subprojects/sinter": "where a user's project puts Sinter", "data/mnist": "made by scripts/fetch-data",
             "jit/compile/shaderc_build.h": "made by the build"}

# (page, what it says, where that is known: a constant, or a golden plan and what it says). A group is the figure, in
# digits or as a word; a golden plan that says something in words is counted.
FIGURES = [
    ("README.md", r"guide's CNN is (\w+) launches", "guide_cnn_step", r", (\d+) launches,"),
    ("README.md", r"(\w+) of them matrix products and convolutions", "guide_cnn_step", r"^(library) "),
    ("README.md", r"Adam over 200 parameters is (\w+)", "adam_200_parameters", r", (\d+) launches,"),
    ("README.md", r"softmax or a layer norm written with plain operations is (\w+) kernel", "softmax", r", (\d+) launches,"),
    ("README.md", r"softmax or a layer norm written with plain operations is (\w+) kernel", "layer_norm", r", (\d+) launches,"),
    ("docs/performance.md", r"update of 200 parameters is (\w+) launch", "adam_200_parameters", r", (\d+) launches,"),
    ("docs/performance.md", r"Beyond (\w+) additions", "kInlineWeight"),
    ("docs/performance.md", r"take up to (\w+) additions", "kExpandedWeight"),
    ("docs/architecture.md", r"(\w+) plans have a graph at a time", "kMostGraphs"),
    ("docs/architecture.md", r"held at most ([\d.]+) times", "kMostHeld"),
    ("docs/architecture.md", r"fewer than (\w+) channels", "kFewChannels"),
    ("docs/modules.md", r"aggregates of up to (\w+) fields", "kMaxFields"),
    ("docs/tensors.md", r"are joined in groups of (\w+)", "kGroup"),
]
WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()

failures = []


def fail(where, what):
    failures.append(f"{where}: {what}")


def walk():
    """Files of the checkout, relative to its root."""
    for folder in FOLDERS:
        for at, folders, files in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
            for name in files:
                yield pathlib.Path(at, name).relative_to(ROOT)
    for file in ROOT.iterdir():
        if file.is_file():
            yield file.relative_to(ROOT)


files = sorted(walk())
names = {str(path) for file in files for path in (file, *file.parents)}
# A page may leave out the folders that a path begins with: every end of a path stands for it.
ends = {"/".join(path.split("/")[k:]) for path in names for k in range(path.count("/") + 1)}
texts = {file: (ROOT / file).read_text(encoding="utf-8", errors="replace")
         for file in files if file.suffix in SOURCES and file.parts[0] != "docs" and "golden" not in file.parts}
words = set(re.findall(r"\w+", "\n".join(texts.values())))
pages = {file: (ROOT / file).read_text(encoding="utf-8") for file in files
         if file.suffix == ".md" and file.parts[0] in ("docs", file.name)}


def alternatives(path):
    """a/{b,c}.h as a/b.h and a/c.h"""
    parts = re.split(r"\{([^}]*)\}", path)
    return ["".join(choice) for choice in itertools.product(*(
        part.split(",") if k % 2 else [part] for k, part in enumerate(parts)))]


def is_there(path):
    return any(fnmatch.fnmatch(end, path) for end in ends) if "*" in path else path in ends


def check_path(where, path):
    path = path.rstrip("/.,:")
    if path.split("/")[0].startswith("build") or path in ELSEWHERE:
        return
    if path.endswith("_test"):
        return  # a program of the build, or a test: meson's list has those
    for each in alternatives(path):
        if not is_there(each):
            fail(where, f"there is no {each}")


def outside_of_fences(text):
    """Lines with their numbers, without those of ``` blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def check_spans(page, text):
    for span in re.findall(r"`([^`\n]+)`", "\n".join(line for _, line in outside_of_fences(text))):
        is_path = re.fullmatch(r"[\w.{},*+/-]+", span) and not span.startswith(("/", "-", "."))
        if is_path and ("/" in span or span.endswith(OURS)):
            check_path(page, span)
            continue
        for word in re.findall(r"[A-Za-z_]\w*", span):
            private = "_" in word.strip("_") or re.search(r"[a-z][A-Z]", word)
            if private and not word.startswith("SINTER_") and word not in words:
                fail(page, f"`{span}`: nothing is called {word}")


def check_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page.parent / path) if path else ROOT / page
        if not file.exists():
            fail(page, f"a link leads to {target}, which is not there")
        elif anchor and anchor not in {slug(h) for h in re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)}:
            fail(page, f"a link leads to {target}, and that page has no such heading")


def check_columns(page, text):
    for number, line in outside_of_fences(text):
        if len(line) > COLUMNS and not line.startswith("|"):
            fail(f"{page}:{number}", f"{len(line)} columns, more than {COLUMNS}")


def check_variables():
    """Variables that are read are documented, and the other way round."""
    headings = set(re.findall(r"SINTER_\w+", "\n".join(re.findall(r"^##+ (.*)$", pages[pathlib.Path(
        "docs/environment.md")], re.MULTILINE))))
    environment = texts[pathlib.Path("src/base/env.cpp")]
    read = re.compile(r'\b(?:getenv|setting|text|flag|number)\(\s*"(SINTER_\w+)"|environ[^\n]*"(SINTER_\w+)"|\$\{(SINTER_\w+)')
    known = set()
    for file, text in texts.items():
        for names in read.findall(text):
            known.update(filter(None, names))
        if file.parts[0] in ("src", "jit", "include") and "getenv" in text and file.name != "env.cpp":
            fail(file, "reads an environment variable; src/base/env.cpp does that")
    for name in sorted(known - headings):
        fail("docs/environment.md", f"{name} is read and has no heading")
    for name in sorted(headings - known):
        fail("docs/environment.md", f"{name} is nowhere read")
    for name in sorted(set(re.findall(r'\(\s*"(SINTER_\w+)"', environment))):
        if f'{{"{name}",' not in environment:
            fail("src/base/env.cpp", f"`sinter env` does not list {name}")
    for page, text in pages.items():
        for name in sorted(set(re.findall(r"SINTER_[A-Z0-9_]*[A-Z0-9]", text))):
            if name not in words:
                fail(page, f"nothing is called {name}")


def check_tests_and_options():
    listed = [test["name"] for test in json.loads((BUILD / "meson-info/intro-tests.json").read_text())]
    # A device that is off has tests that this build does not know.
    listed += [pathlib.PurePath(name).stem for name in
               re.findall(r"'([\w/]+_test\.cpp)'", texts[pathlib.Path("tests/meson.build")])]
    options = {option["name"] for option in json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())}
    flags = {"-C", "--suite", "--list", "--no-rebuild", "--gdb", "--repeat"}
    for page, text in pages.items():
        called = re.findall(r"[a-z0-9_]+_test\b(?:-[a-z0-9*-]+)?", text)
        for line in re.findall(r"^ *meson test -C \S+(.*)$", text, re.MULTILINE):
            called += [word for word in line.split("#")[0].split()
                       if word not in flags and not re.fullmatch(r"unit|device|cache|slow|packaging|examples", word)]
        for name in called:
            if not fnmatch.filter(listed, name.strip("'")):
                fail(page, f"meson knows no test {name}")
        for option in re.findall(r"(?<!\S)`?-D(\w+)", text):
            if option not in options:
                fail(page, f"meson knows no option {option}")


def check_commits():
    """Commits that CONTRIBUTING.md names by their subjects; nothing where the history is not at hand."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True).stdout
    if not shutil.which("git") or git("rev-parse", "--is-shallow-repository").strip() != "false":
        return
    subjects = set(git("log", "--format=%s").splitlines())
    text = re.sub(r"\s+", " ", pages[pathlib.Path("CONTRIBUTING.md")])
    for subject in re.findall(r'"([^"]+)"', text):
        if subject not in subjects:
            fail("CONTRIBUTING.md", f"no commit has the subject {subject}")


def check_code():
    """The guide walks through a program of several files, and the README shows that of tests/consumers: each line that
    they show is in one of the files."""
    def code(text):
        return [re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines()]
    for page, folder, blocks in (("docs/guide.md", "examples/guide", None), ("README.md", "tests/consumers", 1)):
        known = {line for file, text in texts.items() if str(file.parent) == folder for line in code(text)}
        for block in re.findall(r"^```cpp\n(.*?)^```$", pages[pathlib.Path(page)], re.MULTILINE | re.DOTALL)[:blocks]:
            for line in code(block):
                if line not in known:
                    fail(page, f"no line of {folder} is: {line}")
    report = (ROOT / "examples/explain/expected.txt").read_text()
    for block in re.findall(r"^```\n(null: .*?)^```$", pages[pathlib.Path("README.md")], re.MULTILINE | re.DOTALL):
        if block not in report:
            fail("README.md", "shows another report than examples/explain/expected.txt")


def check_passes():
    """The table of passes in the architecture has those of the planner's list, in their order."""
    page = pathlib.Path("docs/architecture.md")
    listed = re.findall(r'^ *\{"(\w+)",', texts[pathlib.Path("jit/plan/rewrite/passes.cpp")], re.MULTILINE)
    shown = [name for name in re.findall(r"^\| (\w+) \| `", pages[page], re.MULTILINE) if name in listed]
    if shown != listed or not listed:
        fail(page, f"shows the passes {shown}; they are {listed}")


def check_cuts():
    """The page on performance has every reason why two kernels are not one."""
    page = pathlib.Path("docs/performance.md")
    planner = "\n".join(text for file, text in texts.items() if file.parts[:2] == ("jit", "plan"))
    reasons = re.findall(r'Cut\{"([^"]+)"|note\(from, to, "([^"]+)"', planner)
    if not reasons:
        fail(page, "no reason for a cut was found in jit/plan")
    for reason in map("".join, reasons):
        if reason not in pages[page]:
            fail(page, f"does not have the reason for a cut: {reason}")


def figure(name, truth=None):
    """What a golden plan or a constant says: digits."""
    if truth is None:
        found = set(re.findall(r"\b%s = ([\d.]+);" % name, "\n".join(texts.values())))
        return found.pop() if len(found) == 1 else f"{len(found)} numbers"
    found = re.findall(truth, (ROOT / "tests/golden/programs" / (name + ".plan")).read_text(), re.MULTILINE)
    return found[0] if found and found[0].isdigit() else str(len(found))


def check_figures():
    for page, claim, *source in FIGURES:
        said, known = re.findall(claim, re.sub(r"\s+", " ", pages[pathlib.Path(page)])), figure(*source)
        if len(said) != 1:
            fail(page, f"says {len(said)} times what tests/pages/names.py looks for: {claim}")
        elif said[0] not in (known, *(word for number, word in enumerate(WORDS) if str(number) == known)):
            fail(page, f"says {said[0]} where {source[0]} has {known}")


def check_commands(page, text):
    """Paths outside of `spans` too: commands that a reader copies."""
    for path in re.findall(r"(?<![\w/.-])(?:\./)?((?:scripts|bench|examples|docs|tests)/[\w./{},*-]*\w)", text):
        check_path(page, path)


def check_sources():
    for file, text in texts.items():
        if file.parts[:2] == ("tests", "pages"):
            continue
        for path in re.findall(r"(?<![\w/.$}-])((?:%s)/[\w./{},*-]*\w)" % "|".join(FOLDERS), text):
            # Headers that meson makes are named without the .in of what they are made of.
            if path.endswith(OURS) and path + ".in" not in ends:
                check_path(file, path)
        if file.parts[0] in ("src", "jit", "include"):
            comments = "\n".join(re.findall("//.*", text))
            for path in re.findall(r"(?<![\w/.{},-])[\w-]+\.(?:h|cpp|cu|comp|md|def)\b", comments):
                check_path(file, path)


for page, text in pages.items():
    check_spans(page, text)
    check_links(page, text)
    check_columns(page, text)
    check_commands(page, text)
check_sources()
check_variables()
check_tests_and_options()
check_commits()
check_code()
check_passes()
check_cuts()
check_figures()
if subprocess.run([ROOT / "scripts/functions-page", "--check"]).returncode != 0:
    fail("docs/functions.md", "is not what scripts/functions-page writes")
print(f"{len(pages)} pages, {len(texts)} sources, {len(failures)} failures")
sys.exit("\n".join(failures) if failures else 0)
