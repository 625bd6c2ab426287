// The CUDA random generator's state as kernels receive it. A seed of 0 and offsets that grow with use: runs repeat.
#pragma once

#include <mutex>

#include "porter/torch/tensor.h"

namespace at {

struct PhiloxCudaState {
    std::uint64_t seed_ = 0, offset_ = 0;
};

class CUDAGeneratorImpl {
public:
    PhiloxCudaState philox_cuda_state(std::uint64_t increment) {
        const PhiloxCudaState state{seed_, offset_};
        offset_ += (increment + 3) / 4 * 4;
        return state;
    }
    std::pair<std::uint64_t, std::uint64_t> philox_engine_inputs(std::uint64_t increment) {
        const PhiloxCudaState state = philox_cuda_state(increment);
        return {state.seed_, state.offset_};
    }
    void set_current_seed(std::uint64_t seed) { seed_ = seed, offset_ = 0; }
    std::uint64_t current_seed() const { return seed_; }
    std::mutex mutex_;

private:
    std::uint64_t seed_ = 0, offset_ = 0;
};

class Generator {
public:
    explicit Generator(CUDAGeneratorImpl* impl = nullptr) : impl_(impl) {}
    bool defined() const { return impl_ != nullptr; }
    template <class T> T* get() const { return impl_; }
    CUDAGeneratorImpl* operator->() const { return impl_; }
    std::mutex& mutex() const { return impl_->mutex_; }

private:
    CUDAGeneratorImpl* impl_;
};

namespace cuda {
namespace detail {
inline const Generator& getDefaultCUDAGenerator(DeviceIndex = -1) {
    static CUDAGeneratorImpl state;
    static const Generator generator(&state);
    return generator;
}
}  // namespace detail
namespace philox {
inline std::tuple<std::uint64_t, std::uint64_t> unpack(PhiloxCudaState state) { return {state.seed_, state.offset_}; }
}  // namespace philox
}  // namespace cuda

template <class T>
T* get_generator_or_default(const std::optional<Generator>& given, const Generator& otherwise) {
    return given && given->defined() ? given->get<T>() : otherwise.get<T>();
}
template <class T> T* check_generator(const Generator& generator) { return generator.get<T>(); }

}  // namespace at
