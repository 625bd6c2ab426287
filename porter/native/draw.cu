// Fills the places behind the first `pool` of the `count` elements in `data`, each of `width` bytes, with elements that
// are drawn from these: what `drawn` in porter/contract/drawn.py says. A thread for each place.
//
// `draw.ptx` is what `nvcc -ptx -arch=compute_75` makes of this, for any device from compute capability 7.0 on.
extern "C" __global__ void porter_draw(unsigned char* data, int width, unsigned long long pool,
                                       unsigned long long count, unsigned long long key) {
    const unsigned long long place = pool + static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= count) return;
    unsigned long long mixed = place * 0x9E3779B97F4A7C15ull + key;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    mixed ^= mixed >> 31;
    const unsigned long long from = ((mixed >> 32) * pool) >> 32;
    if (width == 8)
        reinterpret_cast<unsigned long long*>(data)[place] = reinterpret_cast<unsigned long long*>(data)[from];
    else if (width == 4)
        reinterpret_cast<unsigned int*>(data)[place] = reinterpret_cast<unsigned int*>(data)[from];
    else if (width == 2)
        reinterpret_cast<unsigned short*>(data)[place] = reinterpret_cast<unsigned short*>(data)[from];
    else
        data[place] = data[from];
}
