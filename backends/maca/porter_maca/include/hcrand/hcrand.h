// The host API of mcRAND
#pragma once

#include "porter/curand_host.h"
