"""Where the compiler's C sources can be mutated, and how: sites(text) of a file, each one small change of an operator, a constant,
a condition or a statement, as a test suite should notice it. Comments, strings and preprocessor lines are left alone, and so is what no
test can notice, whatever it tries (LEFT_OUT): such a mutant is the compiler itself, in all programs."""
import re

SKIPPED = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*""", re.S | re.M)

# pattern, what stands for it; the first group is what is replaced
REPLACED = [
    ("relation", r"(?<![-<>=])\s(<)\s", ["<="]),
    ("relation", r"\s(<=)\s", ["<"]),
    ("relation", r"(?<![->])\s(>)\s", [">="]),
    ("relation", r"\s(>=)\s", [">"]),
    ("equality", r"\s(==)\s", ["!="]),
    ("equality", r"\s(!=)\s", ["=="]),
    ("logic", r"\s(&&)\s", ["||"]),
    ("logic", r"\s(\|\|)\s", ["&&"]),
    ("arithmetic", r"\s(\+)\s", ["-"]),
    ("arithmetic", r"\s(-)\s", ["+"]),
    ("arithmetic", r"[\w)\]]\s(\*)\s(?=[\w(])", ["+"]),
    ("arithmetic", r"\s(/)\s", ["*"]),
    ("arithmetic", r"\s(%)\s", ["/"]),
    ("shift", r"\s(<<)\s", [">>"]),
    ("shift", r"\s(>>)\s", ["<<"]),
    ("bits", r"[\w)\]]\s(&)\s(?=[\w(~])", ["|"]),
    ("bits", r"[\w)\]]\s(\|)\s(?=[\w(~])", ["&"]),
    ("negation", r"(?<=[(\s])(!)(?=[\w(])", [""]),
    ("constant", r"(?<![\w.\"'])(\d+)(?![\w.\"'])", None),
    ("result", r"\breturn (true);", ["false"]),
    ("result", r"\breturn (false);", ["true"]),
    ("jump", r"\b(continue;)", [";"]),
    ("statement", r"^\t+(?:if \([^;{}]*\) )?(\w+\([^;{}]*\);)$", [";"]),
]


# a pattern, of code that begins there (to the end of a call where it ends in a bracket), and the kinds of changes that are left out there
LEFT_OUT = [
    # reports of the compiler's own mistakes, which a compiler without mistakes never makes: only when it is made can be tested
    (r"\bbug\(", None),
    # how numbers are mixed for a hash table: any other way finds the same entries
    (r"^static uint(?:32|64)_t \w*(?:hash|mix)\w*\([^;{]*\)\n\{\n(?:.*\n)*?\}$", None),
    # how long an array is: a longer one holds the same
    (r"^\t*(?:static )?(?:const )?(?!return|else|case)\w+ \**\w+\[[^\]=;]*\](?:\[[^\]=;]*\])?(?= = |;|,)", "constant"),
]


class Site:
    def __init__(self, kind, begin, end, old, new, line):
        self.kind, self.begin, self.end, self.old, self.new, self.line = kind, begin, end, old, new, line

    def apply(self, text):
        return text[:self.begin] + self.new + text[self.end:]


def blanked(text):
    """The text with all that is not code as spaces, so that places stay the same."""
    return SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def behind_call(code, i):
    """The place after the bracket that closes the one before i."""
    depth = 1
    while i < len(code) and depth:
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        i += 1
    return i


def left_out(code):
    """The stretches of LEFT_OUT, with the kinds."""
    for pattern, kind in LEFT_OUT:
        for m in re.finditer(pattern, code, re.M):
            yield m.start(), (behind_call(code, m.end()) + 1 if pattern.endswith(r"\(") else m.end()), kind


def condition_sites(code):
    """The condition of each `if` and `while`, negated."""
    for m in re.finditer(r"\b(?:if|while) \(", code):
        yield m.end(), behind_call(code, m.end()) - 1


def sites(text):
    code = blanked(text)
    found = []

    def add(kind, begin, end, new):
        found.append(Site(kind, begin, end, text[begin:end], new, text.count("\n", 0, begin) + 1))

    for kind, pattern, new in REPLACED:
        for m in re.finditer(pattern, code, re.M):
            old = m.group(1)
            for n in new or [str(int(old) + 1)]:
                add(kind, m.start(1), m.end(1), n)
    for begin, end in condition_sites(code):
        add("condition", begin, end, "!(" + text[begin:end] + ")")
    out = list(left_out(code))
    found = [s for s in found if not any(begin <= s.begin and s.end <= end and kind in (None, s.kind) for begin, end, kind in out)]
    return sorted(found, key=lambda s: (s.begin, s.end, s.kind))
