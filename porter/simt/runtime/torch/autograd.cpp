// Values of several types, and what a context keeps.
#include "porter/torch/autograd.h"

namespace c10 {

IValue::IValue() = default;
IValue::IValue(const char* text) : value_(std::string(text)) {}
IValue::IValue(std::string text) : value_(std::move(text)) {}
IValue::IValue(at::Tensor tensor) : value_(std::move(tensor)) {}
IValue::IValue(std::vector<std::int64_t> list) : value_(std::move(list)) {}
IValue::IValue(IntArrayRef list) : value_(list.vec()) {}
IValue::IValue(const IValue& other) = default;
IValue::IValue(IValue&& other) = default;
IValue& IValue::operator=(const IValue& other) = default;
IValue& IValue::operator=(IValue&& other) = default;
IValue::~IValue() = default;

bool IValue::isNone() const { return std::holds_alternative<std::monostate>(value_); }
bool IValue::toBool() const { return std::get<bool>(value_); }
std::int64_t IValue::toInt() const { return std::get<std::int64_t>(value_); }
double IValue::toDouble() const { return std::get<double>(value_); }
const std::string& IValue::toStringRef() const { return std::get<std::string>(value_); }
at::Tensor IValue::toTensor() const { return std::get<at::Tensor>(value_); }
std::vector<std::int64_t> IValue::toIntVector() const { return std::get<std::vector<std::int64_t>>(value_); }

}  // namespace c10

namespace torch::autograd {

void AutogradContext::save_for_backward(variable_list variables) { saved_ = std::move(variables); }
variable_list AutogradContext::get_saved_variables() const { return saved_; }

}  // namespace torch::autograd
