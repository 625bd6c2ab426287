// Helpers of sample programs
#pragma once

#include "porter/samples.h"
