// half
#pragma once

#include "porter/half.h"
