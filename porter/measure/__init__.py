"""Times that can be trusted: how samples are taken, in which order, and what they say. Nothing here knows a device."""
