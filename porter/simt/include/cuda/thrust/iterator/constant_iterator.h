// Iterators of thrust
#pragma once

#include "porter/thrust.h"
