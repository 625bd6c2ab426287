// An operator's header includes PyTorch's and does not need it.
#pragma once
