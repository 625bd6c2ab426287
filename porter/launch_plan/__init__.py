"""What a candidate's host code asks of a device, as data: recorded in one process, checked, and carried out in another."""
