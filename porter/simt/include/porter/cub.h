// CUB as programs include it.
#pragma once

#include "porter/cub_allocator.h"
#include "porter/cub_block_io.h"
#include "porter/cub_block_reduce.h"
#include "porter/cub_block_scan.h"
#include "porter/cub_block_sort.h"
#include "porter/cub_device.h"
#include "porter/cub_device_sort.h"
#include "porter/cub_iterators.h"
#include "porter/cub_operators.h"
#include "porter/cub_warp.h"
