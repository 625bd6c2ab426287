"""The test classes that a vendor's tests inherit; they need pytest."""
