"""Families of operators as CUDA takes or refuses them: functions of the device, a matrix on it, the same on the CPU.

What is told of a family is decided in a process that has the simulated device.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from tests import simulated_device

Family = Callable[[torch.device, Tensor, Tensor], object]


def written(into: Tensor, where: object, what: object) -> Tensor:
    """A copy with something written into it."""
    copy = into.clone()
    copy[where] = what
    return copy


def number(value: float = 2.0) -> Tensor:
    """A tensor of no dimension on the CPU."""
    return torch.tensor(value, dtype=torch.float64, device="cpu")


def at(*places: int, device: torch.device | str = "cpu") -> Tensor:
    """Indices."""
    return torch.tensor(places, dtype=torch.long, device=device)


def trained(a: Tensor, optimizer: type[torch.optim.Optimizer]) -> Tensor:
    """A matrix after a step of an optimiser."""
    w = a.clone().requires_grad_()
    steps = optimizer([w])

    def loss() -> Tensor:
        steps.zero_grad()
        value = (w @ w).tanh().square().sum()
        value.backward()
        return value

    steps.step(loss)
    return w.detach()


REFUSED: dict[str, Family] = {
    "a sum": lambda d, a, c: a + c,
    "a sum in place": lambda d, a, c: c.clone().add_(a[0, 0]),
    "a matrix product": lambda d, a, c: a @ c,
    "a product with a bias": lambda d, a, c: torch.addmm(c[0], a, a),
    "an outer product": lambda d, a, c: torch.outer(a[0], c[0]),
    "an einsum": lambda d, a, c: torch.einsum("ij,jk->ik", a, c),
    "a join": lambda d, a, c: torch.cat([a, c]),
    "a stack of numbers": lambda d, a, c: torch.stack([a[0, 0], number()]),
    "a choice": lambda d, a, c: torch.where(a > 0, a, c),
    "distances": lambda d, a, c: torch.cdist(a, c),
    "a solve": lambda d, a, c: torch.linalg.solve(a, c),
    "rows by an index of the CPU": lambda d, a, c: a.index_select(0, at(1)),
    "a gather": lambda d, a, c: a.gather(0, at(0, 0, 0, 0)[None]),
    "a copy by an index": lambda d, a, c: a.index_copy(0, at(0, device=d), c[:1]),
    "values of the CPU put into places": lambda d, a, c: written(a, at(0, 1), c[:2]),
    "the CPU's rows by the device's index": lambda d, a, c: c[at(0, device=d)],
    "weights of counts": lambda d, a, c: torch.bincount(at(0, 1, 2, device=d), weights=c[0, :3]),
    "numpy": lambda d, a, c: a.numpy(),
    "a generator of the CPU": lambda d, a, c: torch.randn(3, device=d, generator=torch.Generator()),
    "least squares with another driver": lambda d, a, c: torch.linalg.lstsq(a, a, driver="gelsd"),
    "products of integers": lambda d, a, c: at(1, device=d)[None] @ at(1, device=d)[:, None],
    "an operator without a kernel": lambda d, a, c: torch.histogram(a, 4),
}
TAKEN: dict[str, Family] = {
    "a number of the CPU": lambda d, a, c: a * number(),
    "a choice of a number": lambda d, a, c: torch.where(a > 0, a, number()),
    "a number among others": lambda d, a, c: torch.addcmul(a, a, number()),
    "rows by an index of the CPU": lambda d, a, c: a[at(0, 1)],
    "rows by a mask of the CPU": lambda d, a, c: a[c > 0],
    "a number put into places": lambda d, a, c: written(a, a > 0, number()),
    "a column that is copied": lambda d, a, c: written(a, (slice(None), 1), c[:, 1]),
    "a row that comes back": lambda d, a, c: written(c, 0, a[0]),
    "numpy by force": lambda d, a, c: a.numpy(force=True),
    "least squares": lambda d, a, c: torch.linalg.lstsq(a, a).solution,
}
SAME: dict[str, Callable[[Tensor], Tensor]] = {
    "a factor QR": lambda a: torch.linalg.qr(a)[0],
    "singular values": lambda a: torch.linalg.svd(a)[1],
    "eigenvectors": lambda a: torch.linalg.eigh(a + a.T)[1],
    "eigenvalues of any matrix": lambda a: torch.linalg.eigvals(a).abs(),
    "a solution": lambda a: torch.linalg.solve(a, a.T),
    "a triangular solution": lambda a: torch.linalg.solve_triangular(a.triu(), a, upper=True),
    "a Cholesky factor": lambda a: torch.linalg.cholesky(a @ a.T + torch.eye(4, dtype=a.dtype, device=a.device)),
    "a pseudo-inverse": torch.linalg.pinv,
    "a determinant": lambda a: torch.linalg.slogdet(a)[1],
    "an exponential": torch.linalg.matrix_exp,
    "distances": lambda a: torch.cdist(a, a.T),
    "a contraction": lambda a: torch.einsum("ij,kj,lk->il", a, a, a),
    "rows copied": lambda a: a.index_copy(0, at(1, device=a.device), a[:1]),
    "rows added": lambda a: a.scatter_add(0, (a > 0).long(), a),
    "rows repeated": lambda a: a.repeat_interleave(at(1, 2, 0, 1, device=a.device), 0),
    "an order": lambda a: a.sort(0)[1],
    "what is distinct": lambda a: torch.unique(a.round()),
    "counts": lambda a: torch.bincount((a > 0).long().flatten()),
    "quantiles": lambda a: a.flatten().quantile(torch.tensor([0.1, 0.5], device=a.device, dtype=a.dtype)),
    "pairs": lambda a: torch.combinations(a[0], 2),
    "special functions": lambda a: torch.special.erf(a) + torch.special.ndtri(torch.sigmoid(a)),
    "a Fourier transform": lambda a: torch.fft.fft(a).abs(),
    "derivatives of a batch": lambda a: torch.func.vmap(torch.func.jacrev(lambda x: (x.tanh() * x).cumsum(0)))(a),
    "a forward derivative": lambda a: torch.func.jvp(lambda x: torch.linalg.solve(x, x.T), (a,), (a.T,))[1],
    "a step of Adam": lambda a: trained(a, torch.optim.Adam),
    "a step of L-BFGS": lambda a: trained(a, torch.optim.LBFGS),
    "a view in place": lambda a: a.clone().t_().unsqueeze_(0),
    "an out that grows": lambda a: torch.mul(a, 2, out=torch.empty(0, dtype=a.dtype, device=a.device)),
}


def matrices() -> tuple[torch.device, Tensor, Tensor]:
    """The device, a matrix on it, and the same on the CPU."""
    device = simulated_device.install()
    here = torch.randn(4, 4, dtype=torch.float64, device="cpu", generator=torch.Generator().manual_seed(0))
    return device, here.to(device), here


def refused(families: str, name: str) -> bool:
    """Whether the device refuses a family of REFUSED or TAKEN with an error."""
    try:
        {"REFUSED": REFUSED, "TAKEN": TAKEN}[families][name](*matrices())
    except (RuntimeError, TypeError, NotImplementedError):
        return True
    return False


def same(name: str) -> bool:
    """Whether a family has the same bits there, and its result is there."""
    _, there, here = matrices()
    result = SAME[name](there)
    return result.device.type == simulated_device.NAME and torch.equal(SAME[name](here), result.cpu())


def moved_by_rounding(name: str) -> float:
    """By how much another machine's rounding moves a family, in units of its largest entry."""
    _, there, here = matrices()
    with simulated_device.rounding(1):
        off = (SAME[name](there).cpu() - SAME[name](here)).abs().max()
    return float(off / SAME[name](here).abs().max())
