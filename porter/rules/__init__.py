"""What rules of several backends ask: which operators are a library's work, and what an original computes with them."""
