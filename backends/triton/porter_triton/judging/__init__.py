"""What a worker sees of whose work a result is. Only the worker imports it, beside the module that it watches."""
