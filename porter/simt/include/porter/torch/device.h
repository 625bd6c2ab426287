// Devices, layouts and memory formats. There is one GPU, cuda:0; a CPU tensor's memory is unknown to kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "porter/torch/error.h"

namespace c10 {

using DeviceIndex = std::int8_t;

enum class DeviceType : std::int8_t {
    CPU = 0, CUDA = 1, MKLDNN = 2, OPENGL = 3, OPENCL = 4, IDEEP = 5, HIP = 6, FPGA = 7, MAIA = 8, XLA = 9, Vulkan = 10,
    Metal = 11, XPU = 12, MPS = 13, Meta = 14, HPU = 15, VE = 16, Lazy = 17, IPU = 18, MTIA = 19, PrivateUse1 = 20,
    COMPILE_TIME_MAX_DEVICE_TYPES = 21,
};
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kHIP = DeviceType::HIP,
                            kXPU = DeviceType::XPU, kMeta = DeviceType::Meta, kPrivateUse1 = DeviceType::PrivateUse1;

std::string DeviceTypeName(DeviceType type, bool lower_case = false);
std::ostream& operator<<(std::ostream& stream, DeviceType type);

class Device {
public:
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
    Device(const std::string& text);  // "cpu", "cuda", "cuda:0"
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    void set_index(DeviceIndex index) { index_ = index; }
    bool has_index() const { return index_ >= 0; }
    bool is_cuda() const { return type_ == kCUDA; }
    bool is_cpu() const { return type_ == kCPU; }
    bool is_privateuseone() const { return type_ == kPrivateUse1; }
    std::string str() const;
    bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
    bool operator!=(const Device& other) const { return !(*this == other); }

private:
    DeviceType type_;
    DeviceIndex index_;
};
std::ostream& operator<<(std::ostream& stream, const Device& device);

enum class Layout : std::int8_t { Strided, Sparse };
inline constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;
std::ostream& operator<<(std::ostream& stream, Layout layout);

enum class MemoryFormat : std::int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
std::ostream& operator<<(std::ostream& stream, MemoryFormat format);

enum class Backend { CPU, CUDA, Undefined };
const char* toString(Backend backend);

}  // namespace c10

#define LEGACY_CONTIGUOUS_MEMORY_FORMAT ::c10::MemoryFormat::Contiguous
