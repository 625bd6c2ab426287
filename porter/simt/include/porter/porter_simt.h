// All a CUDA or MACA source is compiled against: the precompiled header of the executor.
#pragma once

#include "porter/standard.h"

#include "porter/serve.h"
#include "porter/watch.h"

#if PORTER_DIALECT_MACA
#include "porter/maca.h"
#else
#include "porter/language.h"
#endif

#if PORTER_TORCH
#include "porter/torch/torch.h"
#endif
