// cg::memcpy_async
#pragma once

#include "porter/cooperative_groups.h"
