// The driver API
#pragma once

#include "porter/driver.h"
