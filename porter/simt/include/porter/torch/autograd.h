// Autograd as far as extensions name it. Gradients are not recorded: Function::apply runs forward and no more.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "porter/torch/factories.h"

namespace c10 {

// A value of one of the types that a context or an operator's schema carries.
class IValue {
public:
    IValue() = default;
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    IValue(T value) {
        if constexpr (std::is_same_v<T, bool>) value_ = value;
        else if constexpr (std::is_integral_v<T>) value_ = static_cast<std::int64_t>(value);
        else value_ = static_cast<double>(value);
    }
    IValue(const char* text) : value_(std::string(text)) {}
    IValue(std::string text) : value_(std::move(text)) {}
    IValue(at::Tensor tensor) : value_(std::move(tensor)) {}
    IValue(std::vector<std::int64_t> list) : value_(std::move(list)) {}
    IValue(IntArrayRef list) : value_(list.vec()) {}
    bool isNone() const { return std::holds_alternative<std::monostate>(value_); }
    bool toBool() const { return std::get<bool>(value_); }
    std::int64_t toInt() const { return std::get<std::int64_t>(value_); }
    double toDouble() const { return std::get<double>(value_); }
    const std::string& toStringRef() const { return std::get<std::string>(value_); }
    at::Tensor toTensor() const { return std::get<at::Tensor>(value_); }
    std::vector<std::int64_t> toIntVector() const { return std::get<std::vector<std::int64_t>>(value_); }

private:
    std::variant<std::monostate, bool, std::int64_t, double, std::string, at::Tensor, std::vector<std::int64_t>> value_;
};

class GradMode {
public:
    static bool is_enabled() { return false; }
    static void set_enabled(bool) {}
};
// Guards that switch recording, dispatch or inference off: there is nothing to switch.
template <int kind>
class InertGuard {
public:
    template <class... Args> explicit InertGuard(const Args&...) {}
    ~InertGuard() {}
};
using NoGradGuard = InertGuard<0>;
using AutoGradMode = InertGuard<1>;
using InferenceMode = InertGuard<2>;

}  // namespace c10

namespace at {
using AutoNonVariableTypeMode = InertGuard<3>;
using AutoDispatchBelowAutograd = InertGuard<4>;
using AutoDispatchBelowADInplaceOrView = InertGuard<5>;
}  // namespace at

namespace torch::autograd {

using Variable = at::Tensor;
using variable_list = std::vector<Variable>;
using tensor_list = std::vector<at::Tensor>;

class AutogradContext {
public:
    std::map<std::string, c10::IValue> saved_data;
    void save_for_backward(variable_list variables) { saved_ = std::move(variables); }
    variable_list get_saved_variables() const { return saved_; }
    void mark_dirty(const variable_list&) {}
    void mark_non_differentiable(const variable_list&) {}
    void set_materialize_grads(bool) {}
    bool needs_input_grad(std::size_t) const { return true; }

private:
    variable_list saved_;
};

template <class T>
class Function {
public:
    template <class... Args>
    static auto apply(Args&&... args) {
        AutogradContext context;
        return T::forward(&context, std::forward<Args>(args)...);
    }
};

inline Variable make_variable(at::Tensor data, bool requires_grad = false) {
    return data.detach().requires_grad_(requires_grad);
}

}  // namespace torch::autograd
