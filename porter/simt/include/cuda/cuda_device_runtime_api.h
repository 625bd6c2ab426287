// Part of the language, which is included whole.
#pragma once

#include "porter/language.h"
