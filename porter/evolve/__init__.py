"""Makes ports better, round by round: an archive of right ones, proposers of better ones, a journal of all."""
