"""What lanes of a warp know of each other is kept for groups while it can be: always as in a table of all pairs."""

import subprocess

from porter.simt.compiler import RUNTIME, executor_flags

PROGRAM = r"""
#include "warp_clock.h"

#include <cstdio>
#include <random>

int porter::simt::warp_width;

int main() {
    using namespace porter::simt;
    static WarpClock clock;
    static std::uint32_t table[MAX_LANES][MAX_LANES];
    std::mt19937_64 draw(1);
    for (int round = 0; round < 2000; ++round) {
        warp_width = round % 2 == 0 ? 32 : 64;
        const int lanes = round % 3 != 0 ? warp_width : 1 + int(draw() % warp_width);
        const WideMask all = lanes == 64 ? ~0ull : (1ull << lanes) - 1;
        clock.restart(lanes);
        std::memset(table, 0, sizeof table);
        for (std::uint32_t now = 1; now < 30; ++now) {
            const int size = 1 << draw() % 7, odd = round % 5;  // of five rounds one has groups alone
            WideMask met = size == 64 ? ~0ull : ((1ull << size) - 1) << draw() % 64 / size * size;
            if (int(draw() % 8) < odd) met = draw();
            if (draw() % 4 == 0) met = ~0ull;
            met &= all;
            if (met == 0) continue;
            clock.meet(met, now);
            for (int b = 0; b < lanes; ++b) {
                std::uint32_t known = 0;
                for (int a = 0; a < lanes; ++a) if (met >> a & 1) known = std::max(known, table[a][b]);
                for (int a = 0; a < lanes; ++a) if (met >> a & 1) table[a][b] = met >> b & 1 ? now : known;
            }
            for (int a = 0; a < lanes; ++a) for (int b = 0; b < lanes; ++b) {
                if (a != b && clock.known(a, b) != table[a][b])
                    return std::printf("%d %u: %d of %d\n", round, now, a, b), 1;
            }
        }
    }
}
"""


def test_two_lanes_know_of_each_other_what_a_table_of_all_pairs_says(tmp_path):
    (tmp_path / "clock.cpp").write_text(PROGRAM)
    command = ["g++", *executor_flags(double_precision=False), f"-I{RUNTIME}", "-no-pie", "clock.cpp", "-o", "clock"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "clock"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
