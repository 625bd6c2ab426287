"""Writes the files of a migration: whole or not at all, and never over something porter did not write.

A manifest in the output folder holds the digest of every file porter wrote there. A file with another digest is the
user's, or was edited by the user, and stays. While files are written the manifest holds their new digests beside the
old ones, so that one can begin again after a full disk.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from porter.contract.model.toml import dumps
from porter.errors import InputError, unwritable
from porter.evaluate.model.migration import Migration
from porter.report.migration.document import migration_document
from porter.report.migration.markdown import migration_markdown
from porter.report.migration.software import Software
from porter.whole_file import whole_file
from porter.writing.document import encode_json

MANIFEST = ".porter.json"


def output_texts(migration: Migration, folder: Path, software: Software, *, with_contract: bool) -> Mapping[Path, str]:
    """Returns every file of a migration by its path under `folder`: the port, the contract, the two reports."""
    stem = migration.source.path.stem
    report = folder / f"{stem}.{migration.target.backend}.report.json"  # each target has its own
    texts = {folder / file.name: file.text for file in migration.files}
    if with_contract and migration.contracts and not migration.of_module:
        texts[folder / f"{stem}.contract.toml"] = dumps(migration.contracts)
    texts[report.with_suffix(".md")] = migration_markdown(migration, software)
    texts[report] = encode_json(migration_document(migration, (*texts, report)))
    return texts


def write_outputs(texts: Mapping[Path, str], root: Path, untouchable: Iterable[Path], *, force: bool) -> None:
    """Writes `texts` under `root`, each file whole or not at all; nothing is written when one may not be.

    Raises `InputError` for a path outside `root`, for one of `untouchable` (the user's own sources), for a file porter
    did not write (unless `force`) and for a folder that cannot be written, `MachineError` where the disk is full.
    """
    check_outputs(texts, root, untouchable, force=force)
    known = _read_manifest(root)
    digests = {_name(path, root): _digest(text.encode()) for path, text in texts.items()}
    either = {name: f"{known.get(name, '')} {digest}".strip() for name, digest in digests.items()}
    try:
        _write_manifest(root, {**known, **either})
        for path, text in texts.items():
            _write(path, text)
        _write_manifest(root, {**known, **digests})
    except OSError as error:
        raise unwritable(Path(error.filename or root), error, "choose another --out") from error


def check_outputs(paths: Iterable[Path], root: Path, untouchable: Iterable[Path], *, force: bool) -> None:
    """Raises the `InputError` that writing them would, before any work is done for it."""
    known = _read_manifest(root)
    own = {path.resolve() for path in untouchable}
    for path in paths:
        _check_place(path, root, own)
        if not force:
            _check_ours(path, known.get(_name(path, root), ""))


def _read_manifest(root: Path) -> Mapping[str, str]:
    try:
        document = json.loads((root / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in document.items()} if isinstance(document, dict) else {}


def _write_manifest(root: Path, digests: Mapping[str, str]) -> None:
    _write(root / MANIFEST, encode_json(dict(sorted(digests.items()))))


def _check_place(path: Path, root: Path, own: Iterable[Path]) -> None:
    place = path.resolve()
    if not place.is_relative_to(root.resolve()):
        raise InputError(f"{path} lies outside the output folder {root}", "migrate the folder that holds all the files")
    if place in own:
        raise InputError(f"{path} is a source: porter does not write over it", "choose another --out")


def _check_ours(path: Path, digests: str) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a directory", "choose another --out")
    if path.exists() and _digest(path.read_bytes()) not in digests.split():
        raise InputError(
            f"{path} was changed since porter wrote it", "choose another --out, or --force to overwrite it"
        )


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as fresh:
        fresh.write_text(text, "utf-8", newline="")
