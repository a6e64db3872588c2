"""Networks by their decisions alone: points of the boundary {f = 0}, its pieces, their bends, and one regression."""
