"""Shows steps, trainings, studies and recordings."""
