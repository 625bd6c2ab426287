// What operators are made of: each step does one thing to tensors that are there already, under a name.
//
// Where nothing has contents, the plan gets the step instead, and whoever carries the plan out finds it by its name.
#pragma once

#include "porter/torch/factories.h"

namespace at::detail {

using Numbers = ArrayRef<double>;

class Step {
public:
    using Body = void (*)(TensorList out, TensorList in, Numbers numbers);

    constexpr Step(const char* name, Body body) : name_(name), body_(body) {}
    void operator()(TensorList out, TensorList in, Numbers numbers = {}) const;
    const char* name() const { return name_; }

private:
    const char* name_;
    Body body_;
};

// Makes a step known by its name.
struct Known {
    explicit Known(ArrayRef<Step> steps);
};
const Step* step_named(const std::string& name);

}  // namespace at::detail

// The body of a step called NAME follows: what it makes of `in` and `numbers` is written to `out`.
#define PORTER_STEP(NAME) \
    static void NAME##_body(TensorList out, TensorList in, ::at::detail::Numbers numbers); \
    static constexpr ::at::detail::Step NAME##_step(#NAME, NAME##_body); \
    static const ::at::detail::Known NAME##_known(NAME##_step); \
    static void NAME##_body([[maybe_unused]] TensorList out, [[maybe_unused]] TensorList in, \
                            [[maybe_unused]] ::at::detail::Numbers numbers)
