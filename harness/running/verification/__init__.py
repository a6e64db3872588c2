"""Records that somebody else made, put to the proof: `reruns` of a sample, `submissions` before an epoch's teachers."""
