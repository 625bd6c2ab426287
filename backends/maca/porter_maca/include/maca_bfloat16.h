// bfloat16
#pragma once

#include "dialect/language.h"
