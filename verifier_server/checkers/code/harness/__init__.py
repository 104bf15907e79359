"""Programs that run inside the box, beside the candidate. They are read as text only."""
