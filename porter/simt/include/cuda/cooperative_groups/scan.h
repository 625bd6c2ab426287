// cg::inclusive_scan and exclusive_scan
#pragma once

#include "porter/cooperative_groups_collectives.h"
