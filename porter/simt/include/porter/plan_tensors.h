// What the tensor library tells the recorder of a plan (runtime/plan.cpp), where nothing has contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "porter/convert.h"

namespace porter::simt {

bool planning();

// Elements of `dtype` in device memory; strides count elements.
struct Elements {
    void* data;
    DType dtype;
    const std::int64_t* strides;
};

// Copies element by element, converting between types.
void plan_move_elements(const Elements& to, const Elements& from, const std::int64_t* sizes, std::size_t rank);
// Every element becomes the `bytes` at `element`.
void plan_fill_elements(const Elements& to, const void* element, std::size_t bytes, const std::int64_t* sizes, std::size_t rank);

struct PlannedTensor {
    Elements elements;
    const std::int64_t* sizes;
    std::size_t rank;
};
// A step of an operator (runtime/torch/steps.h), which makes `out` of `in` and `numbers`.
void plan_step(const char* name, const std::vector<PlannedTensor>& out, const std::vector<PlannedTensor>& in,
               const std::vector<double>& numbers);

// What a library's function `name` does by one of its kernels, which `body` calls, and writes from each of `written` on.
void plan_library_work(const char* name, const void* const* written, std::size_t count, void (*body)(const void*), const void* context);

// An operator of a library is about to use the device memory at `data` itself: nothing that a plan has a word for.
void plan_library(const void* data);

}  // namespace porter::simt

// Does a step of that name with the memory of the device, where the tensor library is linked; false where there is none.
extern "C" bool porter_carry_out(const char* name, const std::vector<porter::simt::PlannedTensor>& out,
                                 const std::vector<porter::simt::PlannedTensor>& in, const std::vector<double>& numbers)
    __attribute__((weak));

// Converts one element, where the tensor library is linked.
extern "C" void porter_convert_element(void* to, porter::simt::DType to_type, const void* from, porter::simt::DType from_type) __attribute__((weak));
