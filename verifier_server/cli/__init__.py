"""The verifier-server command."""
