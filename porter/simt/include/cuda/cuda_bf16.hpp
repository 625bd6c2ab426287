// bfloat16
#pragma once

#include "porter/bfloat16.h"
