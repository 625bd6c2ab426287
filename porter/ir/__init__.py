"""porter's intermediate representations. `tensor` says what an operator computes, whatever launches computed it."""
