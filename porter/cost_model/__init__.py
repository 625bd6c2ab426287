"""Models what a launch costs from what one of its blocks does, on a device whose numbers are known; times nothing.

program   what a block does and holds, however that was found: by walking its code, or by running it
estimate  from there to a whole launch
words     the same in sentences
"""
