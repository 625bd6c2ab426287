// Constants
#pragma once

#include "porter/math_constants.h"
