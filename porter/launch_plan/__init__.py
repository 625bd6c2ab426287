"""The work that a candidate asks of a device, as data: recorded in one process, checked, carried out in another."""
