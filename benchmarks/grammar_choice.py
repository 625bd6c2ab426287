"""Finds which grammar reads real CUDA better, and what each step of preparation buys.

    pip install tree-sitter-cuda
    python benchmarks/grammar_choice.py FOLDER_OR_GIT_DIR...

Counts kernels whose definition is one `function_definition` without an error inside, out of all that the text defines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import tree_sitter_cpp
import tree_sitter_cuda
from parse_corpus import KERNEL_FILES, Repository
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from porter.source.functions import kernel_definitions
from porter.source.lexer import significant, tokens
from porter.source.mask import mask, to_ascii
from porter.source.preprocess import preprocess
from porter.source_text import Source

CPP = Language(tree_sitter_cpp.language())
CUDA = Language(tree_sitter_cuda.language())
Prepare = Callable[[Source, Repository], str]


def as_written(source: Source, _: Repository) -> str:
    return to_ascii(source.text)


def preprocessed(source: Source, headers: Repository) -> str:
    return to_ascii(preprocess(source, tokens(source.text), headers=headers).expansion.text)


VARIANTS: dict[str, tuple[Language, Prepare, bool]] = {  # grammar, what comes before the mask, whether there is one
    "cpp, as written": (CPP, as_written, False),
    "cuda, as written": (CUDA, as_written, False),
    "cpp, mask": (CPP, as_written, True),
    "cuda, mask": (CUDA, as_written, True),
    "cuda, preprocessor": (CUDA, preprocessed, False),
    "cuda, preprocessor and mask": (CUDA, preprocessed, True),
    "cpp, preprocessor and mask": (CPP, preprocessed, True),
}


def clean_kernels(language: Language, text: str, heads: list[tuple[int, int]]) -> int:
    root = Parser(language).parse(text.encode("ascii")).root_node
    query = Query(language, "(function_definition body: (_) @body) @function")
    clean = {body.start_byte for body in _bodies(QueryCursor(query), root)}
    return sum(body in clean for _, body in heads)


def _bodies(cursor: QueryCursor, root: Node) -> list[Node]:
    found = [captures for _, captures in cursor.matches(root)]
    return [c["body"][0] for c in found if not c["function"][0].has_error and not _inside_error(c["function"][0])]


def _inside_error(node: Node | None) -> bool:
    while node is not None:
        if node.type == "ERROR":
            return True
        node = node.parent
    return False


def main() -> None:
    repositories = [Repository(Path(a)) for a in sys.argv[1:]]
    for name, (language, prepare, with_mask) in VARIANTS.items():
        kernels = clean = 0
        begin = time.perf_counter()
        for repository in repositories:
            for path in repository.paths:
                if path.endswith(KERNEL_FILES):
                    text = prepare(Source(Path(path), repository.texts[path]), repository)
                    heads = kernel_definitions(significant(tokens(text)))
                    kernels += len(heads)
                    clean += clean_kernels(language, mask(text) if with_mask else text, heads)
        seconds = time.perf_counter() - begin
        print(f"{name:30} {clean:5} of {kernels:5} clean ({clean / kernels:.1%}) {seconds:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
