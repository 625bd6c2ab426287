"""The command line: one module a command; what a command does is done in the other rooms."""
