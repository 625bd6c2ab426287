// The runtime API.
#pragma once

#include "porter/runtime_device.h"
#include "porter/runtime_error.h"
#include "porter/runtime_launch.h"
#include "porter/runtime_memory.h"
#include "porter/runtime_stream.h"
#include "porter/runtime_symbols.h"
#include "porter/runtime_types.h"

// The guards of the headers that CUDA's compiler includes by itself: programs ask for them.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
