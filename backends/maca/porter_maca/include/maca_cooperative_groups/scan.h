// Collectives of cooperative groups
#pragma once

#include "porter/cooperative_groups_collectives.h"
