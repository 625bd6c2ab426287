// cg::reduce
#pragma once

#include "porter/cooperative_groups_collectives.h"
