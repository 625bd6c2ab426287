"""What a vendor's tests inherit; needs pytest."""
