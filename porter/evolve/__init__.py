"""Ports made better, round by round: an archive of what is right, proposers of what may be better, a journal of all."""
