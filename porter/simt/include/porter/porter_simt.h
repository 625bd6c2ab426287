// All a CUDA or MACA source is compiled against: the precompiled header of the executor.
#pragma once

#include "porter/standard.h"

#include "porter/branches.h"
#include "porter/hand_over.h"
#include "porter/replay.h"
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

// From here on the user's text: it is told apart by nothing that MACA's compiler, which is a clang, does not have.
#if PORTER_DIALECT_MACA && !defined(__clang__)
#define __clang__ 1
#define __clang_major__ 14
#define __clang_minor__ 0
#define __clang_patchlevel__ 0
#define __has_feature(name) 0
#define __has_extension(name) 0
#endif
