// The runtime API.
#pragma once

#include "porter/runtime_device.h"
#include "porter/runtime_error.h"
#include "porter/runtime_launch.h"
#include "porter/runtime_memory.h"
#include "porter/runtime_stream.h"
#include "porter/runtime_symbols.h"
#include "porter/runtime_types.h"
