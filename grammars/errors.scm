; What did the grammar not understand?
(ERROR) @error
(MISSING) @missing
