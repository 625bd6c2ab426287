// PyTorch's C++ interface as CUDA extensions use it, without PyTorch.
#pragma once

#include "porter/language.h"

#include "porter/torch/apply_grid.h"
#include "porter/torch/autograd.h"
#include "porter/torch/checks.h"
#include "porter/torch/convert.h"
#include "porter/torch/cuda.h"
#include "porter/torch/device_utils.h"
#include "porter/torch/dispatch.h"
#include "porter/torch/factories.h"
#include "porter/torch/generator.h"
#include "porter/torch/indexing.h"
#include "porter/torch/macros.h"
#include "porter/torch/python.h"
#include "porter/torch/stable.h"

namespace torch {

using namespace at;
using at::Tensor;
using Dtype = at::ScalarType;
using c10::optional;
namespace indexing = at::indexing;
inline constexpr auto kStrided = at::kStrided;

}  // namespace torch
