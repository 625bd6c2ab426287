#include "porter/torch/torch.h"
#include "porter/torch/tensor_info.h"
