"""What judges: one module or package a checker."""
