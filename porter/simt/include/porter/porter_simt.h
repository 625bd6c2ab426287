// All that a source is compiled against: the precompiled header of the executor.
#pragma once

#include "porter/standard.h"

#include "porter/branches.h"
#include "porter/hand_over.h"
#include "porter/replay.h"
#include "porter/serve.h"
#include "porter/watch.h"

#include "porter/language.h"

#if PORTER_TORCH
#include "porter/torch/torch.h"
#endif

// Last, for from here on stands the user's text: the spelling of its dialect, and what its compiler is taken for.
#include "dialect/language.h"
