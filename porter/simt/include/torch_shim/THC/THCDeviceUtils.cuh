// What PyTorch had of its predecessor until 1.11. Sources of both times define these themselves: a pack that is always
// empty lets theirs go before.
#pragma once

#include "porter/torch/torch.h"

template <class T, class... None> constexpr T THCCeilDiv(T a, T b, None...) { return (a + b - 1) / b; }
template <class T, class... None> constexpr T THCRoundUp(T a, T b, None...) { return THCCeilDiv(a, b) * b; }
