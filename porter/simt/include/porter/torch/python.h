// pybind11 and torch::Library as far as a module's definition names them: bindings compile and bind nothing, because
// the driver calls the functions themselves.
#pragma once

#include "porter/torch/factories.h"

namespace pybind11 {

class handle {
public:
    bool is_none() const { return true; }
    handle& inc_ref() { return *this; }
};
class object : public handle {};
class none : public object {};
class dict : public object {};
class list : public object {};
class tuple : public object {};
class gil_scoped_release {
public:
    ~gil_scoped_release() {}
};
class gil_scoped_acquire {
public:
    ~gil_scoped_acquire() {}
};
template <class... Guards> struct call_guard {};
template <class...> struct keep_alive {};
template <class... Args> struct init {};
struct overload_cast_any {};
struct dynamic_attr {};
struct arithmetic {};
struct kw_only {};
struct pos_only {};
struct is_operator {};
struct module_local { explicit module_local(bool = true) {} };
struct doc { explicit doc(const char*) {} };
enum class return_value_policy { automatic, take_ownership, copy, move, reference, reference_internal };

// `py::arg("eps") = 1e-5`
class arg {
public:
    explicit constexpr arg(const char* name) : name(name) {}
    template <class T> const arg& operator=(T&&) const { return *this; }
    const arg& noconvert(bool = true) const { return *this; }
    const arg& none(bool = true) const { return *this; }
    const char* name;
};
inline namespace literals {
constexpr arg operator""_a(const char* name, std::size_t) { return arg(name); }
}  // namespace literals

template <class... Args>
struct overload_cast_impl {
    template <class R> constexpr auto operator()(R (*function)(Args...)) const { return function; }
    template <class R, class C> constexpr auto operator()(R (C::*method)(Args...)) const { return method; }
};
template <class... Args> inline constexpr overload_cast_impl<Args...> overload_cast{};

struct attribute {
    template <class T> attribute& operator=(T&&) { return *this; }
};

class module_ : public object {
public:
    template <class F, class... Extra>
    module_& def(const char*, F&&, const Extra&...) { return *this; }
    module_ def_submodule(const char*, const char* = nullptr) { return {}; }
    attribute attr(const char*) { return {}; }
    attribute doc() { return {}; }
    template <class T> void add_object(const char*, T&&) {}
};
using module = module_;

template <class T, class... Options>
class class_ : public object {
public:
    template <class... Extra> class_(const handle&, const char*, const Extra&...) {}
    template <class... Args> class_& def(Args&&...) { return *this; }
    template <class... Args> class_& def_static(Args&&...) { return *this; }
    template <class... Args> class_& def_readwrite(Args&&...) { return *this; }
    template <class... Args> class_& def_readonly(Args&&...) { return *this; }
    template <class... Args> class_& def_property(Args&&...) { return *this; }
    template <class... Args> class_& def_property_readonly(Args&&...) { return *this; }
};

template <class T>
class enum_ : public object {
public:
    template <class... Extra> enum_(const handle&, const char*, const Extra&...) {}
    enum_& value(const char*, T, const char* = nullptr) { return *this; }
    enum_& export_values() { return *this; }
};

}  // namespace pybind11

namespace py = pybind11;

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif
#define PORTER_PYBIND_MODULE(name, variable) \
    [[maybe_unused]] static void porter_module_##name(pybind11::module_& variable)
#define PYBIND11_MODULE(name, variable, ...) PORTER_PYBIND_MODULE(name, variable)
#define PYBIND11_OVERRIDE(...) static_assert(false, "calls into Python are not offered")

namespace c10 {
enum class DispatchKey { Undefined, CPU, CUDA, Meta, Autograd, AutogradCPU, AutogradCUDA, CompositeImplicitAutograd,
                         CompositeExplicitAutograd, PrivateUse1 };
}  // namespace c10

namespace torch {

class Library {
public:
    template <class... Args> Library& def(Args&&...) & { return *this; }
    template <class... Args> Library& impl(Args&&...) & { return *this; }
    template <class... Args> Library& fallback(Args&&...) & { return *this; }
    void set_python_module(const char*, const char* = "") {}
};
// The old way: static auto registry = torch::RegisterOperators("ns::op", &f).op(...)
class RegisterOperators {
public:
    template <class... Args> explicit RegisterOperators(Args&&...) {}
    template <class... Args> RegisterOperators& op(Args&&...) { return *this; }
};
template <class F> F&& dispatch(c10::DispatchKey, F&& function) { return std::forward<F>(function); }
template <class F> F&& dispatch(c10::DeviceType, F&& function) { return std::forward<F>(function); }
template <class F> F&& wrap_pybind_function(F&& function) { return std::forward<F>(function); }

}  // namespace torch

#define PORTER_TORCH_LIBRARY(prefix, ns, number, variable) \
    [[maybe_unused]] static void C10_CONCATENATE(prefix##ns##_, number)(torch::Library & variable)
#define TORCH_LIBRARY(ns, variable) PORTER_TORCH_LIBRARY(porter_library_, ns, __COUNTER__, variable)
#define TORCH_LIBRARY_FRAGMENT(ns, variable) PORTER_TORCH_LIBRARY(porter_fragment_, ns, __COUNTER__, variable)
#define TORCH_LIBRARY_IMPL(ns, key, variable) PORTER_TORCH_LIBRARY(porter_implementation_, ns, __COUNTER__, variable)
#define TORCH_FN(function) (&function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
