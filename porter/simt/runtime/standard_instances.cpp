// The instances of the standard library's templates that sources find here.
#include "porter/standard_instances.h"

PORTER_STANDARD_INSTANCES()
