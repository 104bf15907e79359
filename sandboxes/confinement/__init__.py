"""What holds a program wherever it runs: a filter of system calls, rlimits."""
