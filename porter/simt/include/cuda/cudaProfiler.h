// Profiler control, part of the runtime
#pragma once

#include "porter/runtime.h"
