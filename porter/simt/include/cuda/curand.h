// The host API of cuRAND
#pragma once

#include "porter/curand_host.h"
