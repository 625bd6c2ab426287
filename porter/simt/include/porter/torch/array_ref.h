// c10::ArrayRef, a view of contiguous elements, and the small containers that torch's interfaces name.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "porter/torch/error.h"

namespace c10 {

namespace detail {
[[noreturn]] void index_out_of_range(std::size_t index, std::size_t length);
}

using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;

// torch keeps a few elements inside the object; only the interface matters here.
template <class T, unsigned N = 8>
class SmallVector : public std::vector<T> {
public:
    using std::vector<T>::vector;
    SmallVector() = default;
    template <class Range, class = decltype(std::declval<const Range&>().begin()),
              class = std::enable_if_t<!std::is_base_of_v<SmallVector, Range>>>
    explicit SmallVector(const Range& range) : std::vector<T>(range.begin(), range.end()) {}
};

template <class T>
class ArrayRef {
public:
    using value_type = T;
    using iterator = const T*;
    using const_iterator = const T*;
    using reverse_iterator = std::reverse_iterator<iterator>;

    constexpr ArrayRef() = default;
    constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
    constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
    constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(end - begin) {}
    ArrayRef(const std::vector<T>& vector) : data_(vector.data()), size_(vector.size()) {
        static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no array of bool to refer to");
    }
    template <std::size_t N>
    constexpr ArrayRef(const std::array<T, N>& array) : data_(array.data()), size_(N) {}
    template <std::size_t N>
    constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
    // A list lives until the end of the full expression: long enough for the call it is an argument of.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
    constexpr ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), size_(list.size()) {}
#pragma GCC diagnostic pop

    constexpr const T* begin() const { return data_; }
    constexpr const T* end() const { return data_ + size_; }
    constexpr reverse_iterator rbegin() const { return reverse_iterator(end()); }
    constexpr reverse_iterator rend() const { return reverse_iterator(begin()); }
    constexpr bool empty() const { return size_ == 0; }
    constexpr const T* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    const T& front() const { return at(0); }
    const T& back() const { return at(size_ - 1); }
    constexpr const T& operator[](std::size_t index) const { return data_[index]; }
    const T& at(std::size_t index) const {
        if (index >= size_) detail::index_out_of_range(index, size_);
        return data_[index];
    }
    ArrayRef slice(std::size_t start, std::size_t count) const {
        TORCH_CHECK(start + count <= size_, "ArrayRef: invalid slice, ", start, " + ", count, "; length ", size_);
        return {data_ + start, count};
    }
    ArrayRef slice(std::size_t start) const { return slice(start, size_ - start); }
    std::vector<T> vec() const { return {begin(), end()}; }
    bool equals(ArrayRef other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T> bool operator==(ArrayRef<T> a, ArrayRef<T> b) { return a.equals(b); }
template <class T> bool operator!=(ArrayRef<T> a, ArrayRef<T> b) { return !a.equals(b); }
template <class T> bool operator==(ArrayRef<T> a, const std::vector<T>& b) { return a.equals(b); }
template <class T> bool operator!=(ArrayRef<T> a, const std::vector<T>& b) { return !a.equals(b); }
template <class T> bool operator==(const std::vector<T>& a, ArrayRef<T> b) { return b.equals(a); }
template <class T> bool operator!=(const std::vector<T>& a, ArrayRef<T> b) { return !b.equals(a); }

template <class T>
std::ostream& operator<<(std::ostream& stream, ArrayRef<T> list) {
    stream << "[";
    for (std::size_t i = 0; i < list.size(); ++i) stream << (i ? ", " : "") << list[i];
    return stream << "]";
}

using IntArrayRef = ArrayRef<std::int64_t>;
using IntList = IntArrayRef;
using SymInt = std::int64_t;
using SymIntArrayRef = IntArrayRef;
using DimVector = SmallVector<std::int64_t, 5>;

// An optional ArrayRef that also takes what an ArrayRef is made of. Optional's own constructors are not inherited: one
// of them would make the ArrayRef of a number that is gone when it returns.
template <class T>
class OptionalArrayRef : public std::optional<ArrayRef<T>> {
public:
    OptionalArrayRef() = default;
    OptionalArrayRef(std::nullopt_t) {}
    OptionalArrayRef(const std::optional<ArrayRef<T>>& list) : std::optional<ArrayRef<T>>(list) {}
    OptionalArrayRef(const T& one) : std::optional<ArrayRef<T>>(ArrayRef<T>(one)) {}
    OptionalArrayRef(const std::initializer_list<T>& list) : std::optional<ArrayRef<T>>(ArrayRef<T>(list)) {}
    template <class U, class = std::enable_if_t<std::is_class_v<U> && std::is_convertible_v<const U&, ArrayRef<T>>>>
    OptionalArrayRef(const U& list) : std::optional<ArrayRef<T>>(ArrayRef<T>(list)) {}
};
using OptionalIntArrayRef = OptionalArrayRef<std::int64_t>;

// `for (auto i : irange(n))`
template <class T>
class Range {
public:
    struct Iterator {
        T value;
        T operator*() const { return value; }
        Iterator& operator++() { return ++value, *this; }
        bool operator!=(const Iterator& other) const { return value != other.value; }
        bool operator==(const Iterator& other) const { return value == other.value; }
    };
    Range(T begin, T end) : begin_(begin), end_(begin < end ? end : begin) {}
    Iterator begin() const { return {begin_}; }
    Iterator end() const { return {end_}; }

private:
    T begin_, end_;
};
template <class T> Range<T> irange(T end) { return {T(0), end}; }
template <class A, class B> Range<B> irange(A begin, B end) { return {static_cast<B>(begin), end}; }

template <class T>
std::int64_t numel_of(const T& sizes) {
    std::int64_t count = 1;
    for (std::int64_t size : sizes) count *= size;
    return count;
}
template <class T> std::int64_t multiply_integers(const T& values) { return numel_of(values); }

std::int64_t maybe_wrap_dim(std::int64_t dim, std::int64_t rank);

}  // namespace c10
