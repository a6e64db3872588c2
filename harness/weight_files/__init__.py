"""Weights in files of others: what is read, what is refused before it costs anything, and no code that comes along.

`reader` tells the formats apart; `chains` makes a network of what a graph computes, in ONNX (`onnx_graphs`) or
TorchScript (`torch_files`); `arrays` are those of numpy, pickled ones through `pickled_arrays`; `limits` are those of
sizes. Imports `words`. Start with `reader`.
"""
