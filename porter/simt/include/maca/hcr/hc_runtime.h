// The language, in MACA's spelling
#pragma once

#include "porter/maca.h"
