// bfloat16
#pragma once

#include "porter/maca.h"
