// half
#pragma once

#include "dialect/language.h"
