"""Deep networks: which layer a direction belongs to, shifts, and a rough network of several layers."""
