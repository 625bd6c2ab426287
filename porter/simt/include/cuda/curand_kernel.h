// The device API of cuRAND
#pragma once

#include "porter/curand.h"
