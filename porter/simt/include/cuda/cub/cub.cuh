// Part of CUB, which is included whole.
#pragma once

#include "porter/cub.h"

#ifdef CUB_NS_PREFIX  // the program wants CUB within a namespace of its own
CUB_NS_PREFIX
namespace cub = ::cub;
CUB_NS_POSTFIX
#endif
