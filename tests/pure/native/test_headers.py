"""Headers that are put into a folder, by several threads at once as where a server opens problems."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from porter.native.headers import unpacked

TEXTS = {f"of_{number % 7}/header_{number}.h": f"int f{number}();\n" * 50 for number in range(200)}


def test_several_threads_may_put_the_same_headers_there(tmp_path):
    together = Barrier(4)

    def unpack(_):
        together.wait()
        return unpacked(TEXTS, tmp_path)

    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(unpack, range(4)))
    assert len(folders) == 1
    folder = folders.pop()
    found = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert found == TEXTS
