"""What a survey or a mission has found: regions, summaries, and files for other programs."""
