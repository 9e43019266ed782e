"""Tuning: settings chosen on validation seeds, by optuna (extra `tune`)."""
