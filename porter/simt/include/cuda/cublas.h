// cuBLAS
#pragma once

#include "porter/cublas.h"
