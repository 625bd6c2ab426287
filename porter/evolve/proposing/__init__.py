"""Proposes candidates without a language model: schedules, rules, sizes."""
