"""What every other package may use: errors, progress, atomic files, memory."""
