"""Which sides are said to be missing: operands of a condition only where the condition itself went both ways."""

from porter.branch_coverage import BranchCoverage, Side

TRUE, FALSE = (Side("op.cu", 3, 7, way, "i < n && flag") for way in ("true", "false"))
BOUND, FLAG = (
    Side("op.cu", 3, column, "false", text, part_of="i < n && flag") for column, text in ((7, "i < n"), (16, "flag"))
)
CAME = Side("op.cu", 3, 16, "", "flag", part_of="i < n && flag")
PRESENT = frozenset((TRUE, FALSE, BOUND, FLAG, CAME))


def test_an_operand_that_never_decided_is_missing():
    assert BranchCoverage(PRESENT, frozenset((TRUE, FALSE, BOUND, CAME))).missing == (FLAG,)


def test_an_operand_that_was_never_evaluated_is_not_told_beside_what_kept_it_so():
    assert BranchCoverage(PRESENT, frozenset((FALSE, BOUND))).missing == (TRUE,)


def test_a_condition_that_is_never_false_is_told_once():
    assert BranchCoverage(PRESENT, frozenset((TRUE, CAME))).missing == (FALSE,)


def test_operands_have_no_part_in_the_share_of_branches():
    assert BranchCoverage(PRESENT, frozenset((TRUE, FALSE, BOUND, CAME))).share == 1.0
