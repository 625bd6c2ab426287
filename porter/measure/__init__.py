"""Takes times that can be trusted: how to sample, in which order, and what samples say. Nothing here knows a device."""
