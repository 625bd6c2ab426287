// Profiler ranges
#pragma once

#include "porter/profiler.h"
