"""Lean's export format, read by a reader of ours, and what can be told from it.

names    a constant's name as its components, never as a dotted string
digests  terms told apart by their content
graph    the names, levels, terms and declarations of an export
reader   NDJSON to a graph; refuses what the format does not allow
closure  which constants a term reaches
compare  a submission's export against what the task's export stated
"""
