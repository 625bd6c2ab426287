// Cooperative groups, without their collectives
#pragma once

#include "porter/cooperative_groups.h"
