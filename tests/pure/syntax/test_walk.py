"""Trees are walked in the order of the source."""

from porter.syntax.nodes import Binary, Literal, Name
from porter.syntax.walk import walk


def test_each_node_comes_before_those_inside_it():
    left, right = Name("a"), Binary("*", Name("b"), Literal(2, "int"))
    tree = Binary("+", left, right)
    assert list(walk((tree, left))) == [tree, left, right, right.left, right.right, left]


def test_what_is_no_node_is_not_told():
    assert list(walk(("text", 3, None))) == []
