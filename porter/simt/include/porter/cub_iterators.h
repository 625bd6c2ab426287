// CUB's input iterators: values computed on access.
#pragma once

#include <cstddef>
#include <iterator>

#include "porter/cub_operators.h"

namespace cub {

// `Derived` says what stands at an index.
template <class Derived, class T>
struct IndexedIterator {
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;
    using iterator_category = std::random_access_iterator_tag;

    T operator[](std::ptrdiff_t i) const { return self().at(offset + i); }
    T operator*() const { return self().at(offset); }
    Derived operator+(std::ptrdiff_t n) const {
        Derived moved = self();
        moved.offset += n;
        return moved;
    }
    Derived& operator++() { return ++offset, static_cast<Derived&>(*this); }
    Derived& operator+=(std::ptrdiff_t n) { return offset += n, static_cast<Derived&>(*this); }
    std::ptrdiff_t operator-(const IndexedIterator& other) const { return offset - other.offset; }
    bool operator==(const IndexedIterator& other) const { return offset == other.offset; }
    bool operator!=(const IndexedIterator& other) const { return offset != other.offset; }
    std::ptrdiff_t offset = 0;

private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

template <class T, class Offset = std::ptrdiff_t>
struct CountingInputIterator : IndexedIterator<CountingInputIterator<T, Offset>, T> {
    explicit CountingInputIterator(T first) : first(first) {}
    T at(std::ptrdiff_t i) const { return T(first + T(i)); }
    T first;
};
template <class T, class Offset = std::ptrdiff_t>
struct ConstantInputIterator : IndexedIterator<ConstantInputIterator<T, Offset>, T> {
    explicit ConstantInputIterator(T value) : value(value) {}
    T at(std::ptrdiff_t) const { return value; }
    T value;
};
template <class T, class Op, class Input, class Offset = std::ptrdiff_t>
struct TransformInputIterator : IndexedIterator<TransformInputIterator<T, Op, Input, Offset>, T> {
    TransformInputIterator(Input input, Op op) : input(input), op(op) {}
    T at(std::ptrdiff_t i) const { return op(input[i]); }
    Input input;
    Op op;
};
template <CacheLoadModifier Modifier, class T, class Offset = std::ptrdiff_t>
struct CacheModifiedInputIterator : IndexedIterator<CacheModifiedInputIterator<Modifier, T, Offset>, T> {
    explicit CacheModifiedInputIterator(const T* input) : input(input) {}
    T at(std::ptrdiff_t i) const { return input[i]; }
    const T* input;
};
template <class Input, class Offset = int>
struct ArgIndexInputIterator
    : IndexedIterator<ArgIndexInputIterator<Input, Offset>, KeyValuePair<Offset, std::decay_t<decltype(*std::declval<Input>())>>> {
    explicit ArgIndexInputIterator(Input input) : input(input) {}
    KeyValuePair<Offset, std::decay_t<decltype(*std::declval<Input>())>> at(std::ptrdiff_t i) const {
        return {Offset(i), input[i]};
    }
    Input input;
};

}  // namespace cub
