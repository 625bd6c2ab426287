"""Rules that say in Triton's words what a kernel spells out thread by thread."""

from porter_triton.lift.rules import RULES, Applied, Lifted, Rule, lift

__all__ = ["RULES", "Applied", "Lifted", "Rule", "lift"]
