#!/usr/bin/env python3
"""Writes word lists and syntax files for editors from the compiler's tables: gen-editors.py CTILEC FOLDER.

FOLDER/ctile.tmLanguage.json (TextMate, VS Code), FOLDER/vim/syntax/ctile.vim and vim/ftdetect, FOLDER/tree-sitter-words.json.
Words of the language come from the %token lines of grammar/tile.y, operations and types from --list-ops."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLASSES = "float any_float integral signed unsigned arith numeric any shape int".split()
CONSTANTS = "true false inf nan null".split()
LAYOUTS = "layout_right layout_left layout_right_padded layout_left_padded layout_strided".split()


def keywords():
    rows = subprocess.run(["awk", "-f", os.path.join(ROOT, "tools", "tokens.awk"), os.path.join(ROOT, "grammar", "tile.y")],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    found = re.findall(r'^TOKEN\(\w+, "([a-z]+)", (RESERVED|CONTEXTUAL)\)$', rows, re.M)
    return sorted(w for w, k in found if k == "RESERVED"), sorted(w for w, k in found if k == "CONTEXTUAL")


def alternatives(words):
    return r"\b(?:" + "|".join(sorted(words)) + r")\b"


def textmate(words):
    patterns = [
        {"name": "comment.line.documentation.ctile", "match": "///.*$"},
        {"name": "comment.line.double-slash.ctile", "match": "//.*$"},
        {"name": "comment.block.ctile", "begin": r"/\*", "end": r"\*/"},
        {"name": "string.quoted.double.ctile", "begin": "\"", "end": "\"|$",
         "patterns": [{"name": "constant.character.escape.ctile", "match": r"\\."}]},
        {"name": "entity.name.function.decorator.ctile", "match": r"@[A-Za-z_]\w*"},
        {"name": "constant.numeric.ctile",
         "match": r"\b(?:0x[0-9a-fA-F_]+(?:\.[0-9a-fA-F]+)?(?:[pP][+-]?[0-9]+)?|0b[01_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)"
                  r"(?:[iu][0-9]+|f[0-9]+(?:e[0-9]+m[0-9]+)?|bf16|tf32)?\b"},
        {"name": "keyword.control.ctile", "match": alternatives(words["reserved"])},
        {"name": "keyword.other.ctile", "match": alternatives(words["contextual"])},
        {"name": "storage.type.ctile", "match": alternatives(words["types"] + words["classes"] + words["layouts"])},
        {"name": "constant.language.ctile", "match": alternatives(words["constants"])},
        {"name": "support.function.ctile", "match": alternatives(words["operations"]) + r"(?=\s*\()"},
    ]
    return {"name": "ctile", "scopeName": "source.ctile", "fileTypes": ["tile"], "patterns": patterns}


def vim(words):
    lines = ['" Printed by tools/gen-editors.py from the tables of ctilec.', 'if exists("b:current_syntax") | finish | endif']
    groups = [("Statement", "Keyword", words["reserved"]), ("PreProc", "Contextual", words["contextual"]),
              ("Type", "Type", words["types"] + words["classes"] + words["layouts"]), ("Constant", "Constant", words["constants"]),
              ("Function", "Operation", words["operations"])]
    for _, group, names in groups:
        names = sorted(names)
        for i in range(0, len(names), 10):
            lines.append("syn keyword ctile%s %s" % (group, " ".join(names[i:i + 10])))
    lines += ['syn match ctileNumber "\\v<(0x[0-9a-fA-F_.]+([pP][+-]?\\d+)?|0b[01_]+|\\d[0-9_]*(\\.\\d[0-9_]*)?([eE][+-]?\\d+)?)\\w*>"',
              'syn match ctileAttribute "@\\h\\w*"',
              'syn region ctileString start=+"+ skip=+\\\\.+ end=+"+ oneline',
              'syn match ctileComment "//.*$" contains=@Spell', 'syn match ctileDoc "///.*$" contains=@Spell',
              'syn region ctileComment start="/\\*" end="\\*/" contains=@Spell']
    lines += ["hi def link ctile%s %s" % (group, link) for link, group, _ in groups]
    lines += ["hi def link ctileNumber Number", "hi def link ctileAttribute PreProc", "hi def link ctileString String",
              "hi def link ctileComment Comment", "hi def link ctileDoc SpecialComment", 'let b:current_syntax = "ctile"']
    return "\n".join(lines) + "\n"


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main(ctilec, out):
    table = json.loads(subprocess.run([ctilec, "--list-ops=json"], stdout=subprocess.PIPE, check=True).stdout)
    reserved, contextual = keywords()
    words = {"reserved": reserved, "contextual": contextual, "types": [t["name"] for t in table["types"]],
             "classes": CLASSES, "layouts": LAYOUTS, "constants": CONSTANTS,
             "operations": sorted({o["name"] for o in table["operations"] if re.fullmatch(r"[a-z_]\w*", o["name"])} - set(reserved))}
    put(os.path.join(out, "ctile.tmLanguage.json"), json.dumps(textmate(words), indent=2) + "\n")
    put(os.path.join(out, "tree-sitter-words.json"), json.dumps(words, indent=2) + "\n")
    put(os.path.join(out, "vim", "syntax", "ctile.vim"), vim(words))
    put(os.path.join(out, "vim", "ftdetect", "ctile.vim"), "au BufRead,BufNewFile *.tile set filetype=ctile\n")


main(sys.argv[1], sys.argv[2])
