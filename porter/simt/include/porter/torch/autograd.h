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
    IValue();
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    IValue(T value) {
        if constexpr (std::is_same_v<T, bool>) value_ = value;
        else if constexpr (std::is_integral_v<T>) value_ = static_cast<std::int64_t>(value);
        else value_ = static_cast<double>(value);
    }
    IValue(const char* text);
    IValue(std::string text);
    IValue(at::Tensor tensor);
    IValue(std::vector<std::int64_t> list);
    IValue(IntArrayRef list);
    IValue(const IValue& other);
    IValue(IValue&& other);
    IValue& operator=(const IValue& other);
    IValue& operator=(IValue&& other);
    ~IValue();
    bool isNone() const;
    bool toBool() const;
    std::int64_t toInt() const;
    double toDouble() const;
    const std::string& toStringRef() const;
    at::Tensor toTensor() const;
    std::vector<std::int64_t> toIntVector() const;

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
    void save_for_backward(variable_list variables);
    variable_list get_saved_variables() const;
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
