// The part of thrust that programs lean on around their kernels: vectors, pointers and a few algorithms, on the host.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

#include "porter/cub_iterators.h"
#include "porter/runtime_memory.h"
#include "porter/watch.h"

namespace thrust {

template <class T>
using counting_iterator = cub::CountingInputIterator<T>;
template <class T>
inline counting_iterator<T> make_counting_iterator(T first) { return counting_iterator<T>(first); }
template <class T>
using constant_iterator = cub::ConstantInputIterator<T>;
template <class T>
inline constant_iterator<T> make_constant_iterator(T value) { return constant_iterator<T>(value); }

struct host_policy {};
struct device_policy {
    device_policy on(cudaStream_t) const { return {}; }
};
inline constexpr host_policy host{};
inline constexpr device_policy device{};
namespace cuda {
inline constexpr device_policy par{}, par_nosync{};
}

template <class T>
inline T* raw_pointer_cast(T* pointer) { return pointer; }

// An element of device memory, read and written by the host one at a time.
template <class T>
class device_reference {
public:
    explicit device_reference(T* place) : place_(place) {}
    operator T() const {
        T value;
        porter::simt::device_copy(&value, place_, sizeof(T));
        return value;
    }
    const device_reference& operator=(const T& value) const {
        porter::simt::device_copy(place_, &value, sizeof(T));
        return *this;
    }
    const device_reference& operator=(const device_reference& other) const { return *this = T(other); }

private:
    T* place_;
};

template <class T>
class device_ptr {
public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = device_ptr;
    using reference = device_reference<T>;
    using iterator_category = std::random_access_iterator_tag;

    device_ptr() = default;
    explicit device_ptr(T* raw) : raw_(raw) {}
    T* get() const { return raw_; }
    reference operator*() const { return reference(raw_); }
    reference operator[](std::ptrdiff_t i) const { return reference(raw_ + i); }
    device_ptr operator+(std::ptrdiff_t n) const { return device_ptr(raw_ + n); }
    device_ptr operator-(std::ptrdiff_t n) const { return device_ptr(raw_ - n); }
    std::ptrdiff_t operator-(device_ptr other) const { return raw_ - other.raw_; }
    device_ptr& operator++() { return ++raw_, *this; }
    device_ptr& operator+=(std::ptrdiff_t n) { return raw_ += n, *this; }
    bool operator==(device_ptr other) const { return raw_ == other.raw_; }
    bool operator!=(device_ptr other) const { return raw_ != other.raw_; }

private:
    T* raw_ = nullptr;
};
template <class T>
inline T* raw_pointer_cast(device_ptr<T> pointer) { return pointer.get(); }
template <class T>
inline device_ptr<T> device_pointer_cast(T* pointer) { return device_ptr<T>(pointer); }

template <class T>
using host_vector = std::vector<T>;

template <class T>
class device_vector {
public:
    using value_type = T;
    using iterator = device_ptr<T>;
    device_vector() = default;
    explicit device_vector(std::size_t count, const T& value = T()) { resize(count, value); }
    device_vector(const std::vector<T>& values) { assign(values.data(), values.size()); }
    device_vector(const device_vector& other) { assign(other.data_, other.size_); }
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
    device_vector(Iterator first, Iterator last) : device_vector(std::vector<T>(first, last)) {}
    ~device_vector() { cudaFree(data_); }
    device_vector& operator=(const std::vector<T>& values) { return assign(values.data(), values.size()), *this; }
    device_vector& operator=(const device_vector& other) { return assign(other.data_, other.size_), *this; }
    operator std::vector<T>() const {
        std::vector<T> values(size_);
        porter::simt::device_copy(values.data(), data_, size_ * sizeof(T));
        return values;
    }
    void resize(std::size_t count, const T& value = T()) {
        std::vector<T> values = *this;
        values.resize(count, value);
        assign(values.data(), count);
    }
    void push_back(const T& value) { resize(size_ + 1, value); }
    void clear() { resize(0); }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    iterator data() const { return iterator(data_); }
    iterator begin() const { return iterator(data_); }
    iterator end() const { return iterator(data_ + size_); }
    device_reference<T> operator[](std::size_t i) const { return device_reference<T>(data_ + i); }
    device_reference<T> front() const { return (*this)[0]; }
    device_reference<T> back() const { return (*this)[size_ - 1]; }

private:
    void assign(const T* values, std::size_t count) {
        if (count != size_) {
            cudaFree(data_);
            cudaMalloc(&data_, count * sizeof(T));
        }
        size_ = count;
        if (count != 0) porter::simt::device_copy(data_, values, count * sizeof(T));
    }
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

using std::plus, std::minus, std::multiplies, std::divides, std::modulus, std::negate, std::less, std::greater,
    std::less_equal, std::greater_equal, std::equal_to, std::not_equal_to, std::logical_and, std::logical_or;
template <class T = void>
struct maximum {
    T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T = void>
struct minimum {
    T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct square {
    T operator()(const T& x) const { return x * x; }
};
template <class T>
struct identity {
    T operator()(const T& x) const { return x; }
};

}  // namespace thrust
