"""Read every weight of a trained network off its outputs.

A small regression network is trained; then all that is left of it is a function to call. `paramid.identify` asks that
function for some thousand values and returns the weights, shifts, outer weights and output bias that training found.
What is no such network is not passed off as one.

python docs/identify_a_trained_network.py
"""

import copy

import numpy as np
import torch
from torch import Tensor, nn

import paramid


def trained(hidden: nn.Module) -> nn.Sequential:
    """A network of 6 inputs and 8 hidden neurons, fitted to a made-up target."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), hidden, nn.Linear(8, 1)).double()
    x = torch.randn(512, 6, dtype=torch.float64)
    y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] + x[:, 3:4].abs() - 1
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(400):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return model


def parameters(model: nn.Sequential) -> tuple[list[Tensor], list[Tensor]]:
    """(weights, biases) as paramid holds them: weights are (in, out), a neuron is a column."""
    first, last = model[0], model[2]
    return [first.weight.T, last.weight.T], [first.bias, last.bias]


def identified(f: object) -> paramid.Found:
    """What `f` is if it is a network of 8 tanh neurons. "free": nothing is known of norms, outer weights and bias."""
    return paramid.identify(f, inputs=6, neurons=8, activation="tanh", outer="free", method="sphere-lm")


# A torch module is handed tensors of its own type; a plain function would get numpy arrays. Every row is counted.
model = trained(nn.Tanh())
found = identified(model)
print(f"{found.status.name.lower()} after {found.queries} queries, residual {found.residual:.0e}")

# The residual compares outputs on fresh inputs, and needs no truth. Here the truth is at hand. Neurons come in another
# order, and some as their mirror image, (-w, -b, -a); the judge looks past both.
scores = paramid.judge(parameters(model), found.network)
for name in ("weight_error", "bias_error_max", "outer_error"):
    print(f"{name} {scores[name]:.0e}")

# The method vouches for what it says, to an error that it estimates itself.
print(f"error_bound {found.network.stats['error_bound']:.0e}")

# A float32 module gives seven digits, and is found to about six; its copy in float64 is found to rounding.
single = trained(nn.Tanh()).float()
found = identified(single)
scores = paramid.judge(parameters(single), found.network)
print(f"float32: {found.status.name.lower()}, weight_error {scores['weight_error']:.0e}")
found = identified(copy.deepcopy(single).double())
scores = paramid.judge(parameters(single), found.network)
print(f"its copy in float64: {found.status.name.lower()}, weight_error {scores['weight_error']:.0e}")

# What is no such network is refused with a reason. Where it nearly is one, `found.network` is the best that was found,
# and the residual says how much of the function it misses.
impostors = {
    "relu": trained(nn.ReLU()),
    "sine": lambda x: np.sin(x.sum(axis=1)),
    "nearly": lambda x: model(torch.from_numpy(x)).detach().numpy()[:, 0] + 1e-3 * np.sin(x[:, 0]),
}
for name, f in impostors.items():
    found = identified(f)
    print(f"{name}: {found.status.name.lower()}, residual {found.residual:.0e}, {found.reason}")
