// The device API of mcRAND
#pragma once

#include "porter/curand.h"
