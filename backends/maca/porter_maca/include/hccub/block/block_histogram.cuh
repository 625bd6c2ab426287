// Part of CUB, which is included whole.
#pragma once

#include "porter/cub.h"
