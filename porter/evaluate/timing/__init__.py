"""Times candidates beside their baselines."""
