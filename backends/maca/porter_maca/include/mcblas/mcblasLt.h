// mcBLASLt
#pragma once

#include "porter/cublas_lt.h"
