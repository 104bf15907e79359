"""Where checks run: lanes of killable worker processes."""
