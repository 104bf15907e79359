"""The `code` checker: runs the candidate's program in a sandbox and judges what comes out."""
