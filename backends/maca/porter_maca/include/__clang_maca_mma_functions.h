// Warp matrix products
#pragma once

#include "porter/wmma.h"
