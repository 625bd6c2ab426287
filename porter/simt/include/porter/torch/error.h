// c10::Error and the macros that throw it.
//
// A failed check carries the user's file and line: the driver reports it as a fault of the host code.
#pragma once

#include <cassert>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "porter/fault.h"

namespace c10 {

struct SourceLocation {
    const char* function;
    const char* file;
    std::uint32_t line;
};

class Error : public porter::simt::HostCheck {
public:
    Error(SourceLocation where, const std::string& message)
        : HostCheck({where.file, static_cast<int>(where.line)}, message) {}
    const char* what_without_backtrace() const noexcept { return what(); }
    std::string msg() const { return what(); }
};

struct IndexError : Error { using Error::Error; };
struct ValueError : Error { using Error::Error; };
struct TypeError : Error { using Error::Error; };
struct NotImplementedError : Error { using Error::Error; };
struct LinAlgError : Error { using Error::Error; };
struct OutOfMemoryError : Error { using Error::Error; };

namespace detail {

void append_text(std::string& text, std::string_view more);
void append_integer(std::string& text, std::int64_t value);
void append_unsigned(std::string& text, std::uint64_t value);
// Appends what `print` writes of the value to a stream.
void append_printed(std::string& text, const void* value, void (*print)(std::ostream&, const void*));

// The work is done in the library: every check of every source has such calls, and would compile it again.
template <class T>
void append(std::string& text, const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        append_text(text, std::string_view(value));
    } else if constexpr (std::is_integral_v<T> && sizeof(T) > 1) {
        if constexpr (std::is_signed_v<T>) append_integer(text, value);
        else append_unsigned(text, value);
    } else {
        append_printed(text, &value, [](std::ostream& stream, const void* of) { stream << *static_cast<const T*>(of); });
    }
}

}  // namespace detail

template <class... Args>
std::string str(const Args&... args) {
    std::string text;
    (detail::append(text, args), ...);
    return text;
}

namespace detail {

// Makes a message of the condition where there is none.
void complete_message(std::string& message, const char* condition);

template <class E = Error>
[[noreturn]] __attribute__((noinline, cold)) void check_failed(
    SourceLocation where, const char* condition, std::string message) {
    complete_message(message, condition);
    throw E(where, message);
}

void warn(SourceLocation where, const std::string& message);

[[noreturn]] void cuda_failed(const char* error, SourceLocation where);
void check_ordinal(int device);  // of the only device there is

// The right operand of `TORCH_CHECK_EQ(a, b) << "more"`; throws at the end of the full expression.
class FailedComparison {
public:
    FailedComparison(SourceLocation where, std::string message);
    ~FailedComparison() noexcept(false);
    template <class T>
    FailedComparison& operator<<(const T& value) {
        append(message_, value);
        return *this;
    }

private:
    SourceLocation where_;
    std::string message_;
};

}  // namespace detail
}  // namespace c10

#define PORTER_HERE (::c10::SourceLocation{__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)})
// A statement by itself, with or without a semicolon after it, as in torch.
#define PORTER_TORCH_CHECK(error, condition, ...) \
    if (__builtin_expect(!(condition), 0)) { \
        ::c10::detail::check_failed<error>(PORTER_HERE, #condition, ::c10::str(__VA_ARGS__)); \
    }
#define PORTER_TORCH_CHECK_OP(a, b, op) \
    if (__builtin_expect(bool((a) op (b)), 1)) { \
    } else \
        ::c10::detail::FailedComparison( \
            PORTER_HERE, ::c10::str("Check failed: " #a " " #op " " #b " (", (a), " vs. ", (b), "). "))

#define TORCH_CHECK(condition, ...) PORTER_TORCH_CHECK(::c10::Error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) PORTER_TORCH_CHECK(::c10::IndexError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) PORTER_TORCH_CHECK(::c10::ValueError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) PORTER_TORCH_CHECK(::c10::TypeError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) PORTER_TORCH_CHECK(::c10::LinAlgError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
    PORTER_TORCH_CHECK(::c10::NotImplementedError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_WITH(error, condition, ...) PORTER_TORCH_CHECK(::c10::error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_MSG(condition, type, ...) #condition
#define TORCH_INTERNAL_ASSERT(condition, ...) \
    TORCH_CHECK(condition, "internal assert failed: " #condition " ", ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) while (false) static_cast<void>(condition)
#define TORCH_CHECK_EQ(a, b) PORTER_TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) PORTER_TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LE(a, b) PORTER_TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_LT(a, b) PORTER_TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_GE(a, b) PORTER_TORCH_CHECK_OP(a, b, >=)
#define TORCH_CHECK_GT(a, b) PORTER_TORCH_CHECK_OP(a, b, >)
// PyTorch has these from its own stand-in for glog.
#define CHECK_EQ(a, b) TORCH_CHECK_EQ(a, b)
#define CHECK_NE(a, b) TORCH_CHECK_NE(a, b)
#define CHECK_LE(a, b) TORCH_CHECK_LE(a, b)
#define CHECK_LT(a, b) TORCH_CHECK_LT(a, b)
#define CHECK_GE(a, b) TORCH_CHECK_GE(a, b)
#define CHECK_GT(a, b) TORCH_CHECK_GT(a, b)
#define TORCH_WARN(...) ::c10::detail::warn(PORTER_HERE, ::c10::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...) \
    do { \
        static bool warned = (TORCH_WARN(__VA_ARGS__), true); \
        static_cast<void>(warned); \
    } while (false)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN(__VA_ARGS__)

#define AT_CHECK(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) ::c10::detail::check_failed(PORTER_HERE, "", ::c10::str(__VA_ARGS__))
#define AT_INDEX_ERROR(...) ::c10::detail::check_failed<::c10::IndexError>(PORTER_HERE, "", ::c10::str(__VA_ARGS__))
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_ASSERT_MSG(condition, ...) assert(condition)
#define CUDA_KERNEL_ASSERT2(condition) assert(condition)
