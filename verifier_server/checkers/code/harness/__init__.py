"""Programs that run inside the box, beside the candidate; the judge never runs them.

They are laid into the box as a package of this name and need only its standard library.
"""
