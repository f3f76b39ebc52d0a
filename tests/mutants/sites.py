"""Where the compiler's C sources can be mutated, and how: sites(text) of a file, each one small change of an operator, a constant,
a condition or a statement, as a test suite should notice it. Comments, strings and preprocessor lines are left alone."""
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


class Site:
    def __init__(self, kind, begin, end, old, new, line):
        self.kind, self.begin, self.end, self.old, self.new, self.line = kind, begin, end, old, new, line

    def apply(self, text):
        return text[:self.begin] + self.new + text[self.end:]


def blanked(text):
    """The text with all that is not code as spaces, so that places stay the same."""
    return SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def condition_sites(code):
    """The condition of each `if` and `while`, negated."""
    for m in re.finditer(r"\b(?:if|while) \(", code):
        depth, i = 1, m.end()
        while i < len(code) and depth:
            depth += {"(": 1, ")": -1}.get(code[i], 0)
            i += 1
        yield m.end(), i - 1


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
    return sorted(found, key=lambda s: (s.begin, s.end, s.kind))
