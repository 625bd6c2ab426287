// mcBLAS
#pragma once

#include "porter/cublas.h"
