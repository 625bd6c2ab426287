#include "porter/torch/torch.h"
#include "porter/torch/parallel.h"
