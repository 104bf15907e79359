"""The record of every verdict: who asked, what was judged, how, and in which order."""
