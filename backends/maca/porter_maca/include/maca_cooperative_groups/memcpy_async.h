// Copies by cooperative groups
#pragma once

#include "porter/cooperative_groups.h"
