// 8-bit floats
#pragma once

#include "porter/float8.h"
#include "dialect/language.h"
