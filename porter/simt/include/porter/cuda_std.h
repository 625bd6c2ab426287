// libcu++'s standard library: the host's, under the vendors' names.
#pragma once

#include <array>
#include <cfloat>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cuda {
namespace std = ::std;
}
namespace mc {
namespace std = ::std;
}
