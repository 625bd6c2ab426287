// The jump ahead of cuRAND's XORWOW: powers of its recurrence as matrices over bits, made once.

#include <array>
#include <cstdint>

namespace {

using Words = std::array<std::uint32_t, 5>;
using Matrix = std::array<Words, 160>;  // what becomes of each bit
constexpr int kPowers = 131;            // 64 of single numbers, 64 of subsequences of 2 ** 67 numbers

Words applied(const Matrix& matrix, const Words& words) {
    Words made{};
    for (int bit = 0; bit < 160; ++bit)
        if (words[bit / 32] >> bit % 32 & 1)
            for (int i = 0; i < 5; ++i) made[i] ^= matrix[bit][i];
    return made;
}

Matrix one_step() {
    Matrix made{};
    for (int bit = 0; bit < 160; ++bit) {
        Words v{};
        v[bit / 32] = std::uint32_t{1} << bit % 32;
        const std::uint32_t t = v[0] ^ v[0] >> 2;
        made[bit] = {v[1], v[2], v[3], v[4], (v[4] ^ v[4] << 4) ^ (t ^ t << 1)};
    }
    return made;
}

const std::array<Matrix, kPowers>& powers() {
    static const std::array<Matrix, kPowers> all = [] {
        std::array<Matrix, kPowers> made;
        made[0] = one_step();
        for (int k = 1; k < kPowers; ++k)
            for (int bit = 0; bit < 160; ++bit) made[k][bit] = applied(made[k - 1], made[k - 1][bit]);
        return made;
    }();
    return all;
}

}  // namespace

extern "C" void porter_xorwow_skip(std::uint32_t* words, unsigned long long n, int power) {
    Words held;
    for (int i = 0; i < 5; ++i) held[i] = words[i];
    for (; n != 0; n >>= 1, ++power)
        if (n & 1) held = applied(powers()[power], held);
    for (int i = 0; i < 5; ++i) words[i] = held[i];
}
