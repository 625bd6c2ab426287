// The language, in MACA's spelling
#pragma once

#include "dialect/language.h"
