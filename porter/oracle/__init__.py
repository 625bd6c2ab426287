"""What the right answer is: the original, executed and examined."""
