// Complex numbers
#pragma once

#include "porter/complex.h"
