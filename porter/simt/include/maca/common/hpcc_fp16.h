// half
#pragma once

#include "porter/maca.h"
