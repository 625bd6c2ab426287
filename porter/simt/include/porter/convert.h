// Arguments from a job to C++ parameters, and results back. A shim specialises `Convert` and `Collect` for its types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace porter::simt {

// In the order of porter.contract.model.dtype.DType.
enum class DType : std::uint8_t {
    FLOAT64, FLOAT32, FLOAT16, BFLOAT16, FLOAT8_E4M3FN, FLOAT8_E5M2,
    INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8, BOOL
};

// A tensor (row-major, in device memory; dense where it has no strides, else `offset` elements from `data` on) or a number.
struct Argument {
    bool is_tensor = false;
    DType dtype = DType::FLOAT32;
    std::vector<std::int64_t> shape, strides;
    std::int64_t offset = 0;
    void* data = nullptr;
    std::size_t bytes = 0;
    bool integral = false;  // a number: `integer` holds it exactly, else `real`
    std::int64_t integer = 0;
    double real = 0;
    const void* record = nullptr;  // a struct that the driver made of other arguments

    template <class T>
    T number() const { return integral ? static_cast<T>(integer) : static_cast<T>(real); }
};

// A returned tensor or number; `data` may be device or host memory and is read before the process ends.
struct Result {
    DType dtype = DType::FLOAT32;
    std::vector<std::int64_t> shape;
    const void* data = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<void> owner;  // keeps `data` alive
};

// `Convert<P>::from(argument)` makes the value for a parameter declared as P without reference and const.
template <class T, class Enable = void>
struct Convert {
    static T from(Argument& argument) {
        if constexpr (std::is_class_v<T> && std::is_empty_v<T>) return T{};  // a function object without state
        else if constexpr (std::is_constructible_v<T, double>) return argument.record ? whole(argument) : T(argument.number<double>());
        else if constexpr (std::is_copy_constructible_v<T> && std::is_default_constructible_v<T>) return whole(argument);
        else return T(argument.number<double>());
    }

private:
    static T whole(const Argument& argument) {
        if constexpr (std::is_copy_constructible_v<T>) return *static_cast<const T*>(argument.record);
        else return T(argument.number<double>());
    }
};

template <class T>
struct Convert<T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>> {
    static T from(Argument& argument) {
        if constexpr (std::is_enum_v<T>) return static_cast<T>(argument.number<std::underlying_type_t<T>>());
        else return argument.number<T>();
    }
};

template <class T>
struct Convert<T*, void> {
    static T* from(Argument& argument) {
        if (argument.record) return static_cast<T*>(const_cast<void*>(argument.record));
        return static_cast<T*>(argument.is_tensor ? argument.data : nullptr);
    }
};

// `Collect<R>::into(results, value)` appends what a function returned.
template <class T, class Enable = void>
struct Collect {
    static void into(std::vector<Result>&, const T&) {}
};

// How numbers of the type T are stored.
template <class T>
constexpr DType number_type() {
    constexpr int step = sizeof(T) == 8 ? 0 : sizeof(T) == 4 ? 1 : sizeof(T) == 2 ? 2 : 3;
    if (std::is_same_v<T, bool>) return DType::BOOL;
    if (std::is_floating_point_v<T>) return sizeof(T) == 8 ? DType::FLOAT64 : DType::FLOAT32;
    return DType((std::is_signed_v<T> ? int(DType::INT64) : int(DType::UINT64)) + step);
}

template <class T>
struct Collect<T, std::enable_if_t<std::is_arithmetic_v<T> && sizeof(T) <= 8>> {
    static void into(std::vector<Result>& results, const T& value) {
        const auto kept = std::make_shared<T>(value);
        results.push_back({number_type<T>(), {}, kept.get(), sizeof(T), kept});
    }
};

template <class T>
struct Collect<std::vector<T>> {
    static void into(std::vector<Result>& results, const std::vector<T>& values) {
        for (const auto& value : values) Collect<T>::into(results, value);
    }
};

template <class T, std::size_t N>
struct Collect<std::array<T, N>> {
    static void into(std::vector<Result>& results, const std::array<T, N>& values) {
        for (const auto& value : values) Collect<T>::into(results, value);
    }
};

template <class T>
struct Collect<std::optional<T>> {
    static void into(std::vector<Result>& results, const std::optional<T>& value) {
        if (value) Collect<T>::into(results, *value);
    }
};

template <class... T>
struct Collect<std::tuple<T...>> {
    static void into(std::vector<Result>& results, const std::tuple<T...>& values) {
        std::apply([&](const auto&... value) { (Collect<std::decay_t<decltype(value)>>::into(results, value), ...); }, values);
    }
};

template <class A, class B>
struct Collect<std::pair<A, B>> {
    static void into(std::vector<Result>& results, const std::pair<A, B>& value) {
        Collect<A>::into(results, value.first);
        Collect<B>::into(results, value.second);
    }
};

}  // namespace porter::simt
