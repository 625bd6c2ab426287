#include "porter/torch/torch.h"
