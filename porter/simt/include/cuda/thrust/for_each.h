// Algorithms of thrust
#pragma once

#include "porter/thrust_algorithms.h"
