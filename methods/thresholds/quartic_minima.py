"""Directions of A = Σ_i c_i w_i w_iᵀ and B = Σ_i c_i w_i^{⊗4} by minima of quartics, orthonormal or not.

On whitened coordinates, A(z, z) = ‖y‖² for z = K y, so that y_i = √c_i ⟨w_i, z⟩ are orthonormal ones,

    (1)  G(y) = -B(y, y, y, y) + Λ (‖y‖² - 1)²,   Λ > 1 / min c_i,
    (2)  minima: one y_i² = 1 / (1 - 1 / (c_i Λ)), all others 0;   below that Λ there is none,
    (3)  G(Y) = Σ_{j≠k} B(y_j, y_j, y_k, y_k) - γ Σ_j B(y_j, y_j, y_j, y_j) + Λ Σ_j (‖y_j‖² - 1)²,
         whose minimum has the same rows with 1 / (c_i Λ) replaced by γ / (c_i Λ),
    (4)  with rows r_i of (K Y)^{-T}, γ = 1 for (1):   w_i = r_i / ‖r_i‖,   c_i = ‖r_i‖² + γ / Λ,
    (5)  orthonormal w_i: maxima of B(z, z, z, z) on the sphere.

Minima of (1) are the duals of the w_i: all of them must be found before (4). Starts are orthogonal to what was found.

Reference: Goel & Panigrahy, §2.1, Appendices B.1 and B.4; ψ is corrected to He_4(x)[v, v, w, w] / √24, for which
E[f ψ(v, w)] = B(v, v, w, w); the printed one has +4 and no factor 2. (2) makes λ = Θ(·) of the paper precise; the c_i
of (4) are ours.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from paramid import GiveUp, Run

Array = NDArray[np.float64]
FAR, SAME = 10.0, 0.5  # from the origin, where (1) fell for ever; from a minimum that is known
TRIES = 8  # starts for each unit
ASCENTS, STILL = 3000, 1e-14


@dataclass(frozen=True, eq=False)
class Whitened:
    """B in coordinates where A is the identity on its leading m dimensions, and z = K y."""

    quartic: Array  # (m, m, m, m)
    frame: Tensor  # K, (D, m)


@dataclass(frozen=True, eq=False)
class Found:
    """Unit columns up to sign (D, m), their c_i, and the starts taken."""

    columns: Tensor
    coefficients: Tensor
    starts: int


def whitened(a: Tensor, b: Tensor, m: int) -> Whitened:
    """A and B on the span of the m largest eigenvalues of A, which must be positive."""
    values, vectors = torch.linalg.eigh(a)
    values, vectors = values[-m:], vectors[:, -m:]
    if not float(values[0]) > 0:
        raise GiveUp(f"second correlations have {int((values > 0).sum())} directions of one sign; {m} were wanted")
    frame = vectors / values.sqrt()
    full = b
    for _ in range(4):  # each turn moves the next index to y
        full = torch.tensordot(full, frame, dims=([0], [0]))
    return Whitened(full.numpy(force=True), frame)


def one_by_one(given: Whitened, run: Run, *, margin: float) -> Found:
    """Minima of (1) one after the other; Λ = `margin`."""
    m = given.quartic.shape[0]
    flat = given.quartic.reshape(m * m, m * m)
    found, starts = np.empty((0, m)), 0
    while len(found) < m and starts < TRIES * m:
        y, starts = start(found, m, run), starts + 1
        end = minimize(lone, y, args=(flat, margin), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 500}).x
        known = np.minimum(*(np.linalg.norm(found + s * end, axis=1) for s in (1, -1)))
        if np.linalg.norm(end) < FAR and np.linalg.norm(end) > SAME and not (known < SAME).any():
            found = np.vstack([found, end])
    if len(found) < m:
        raise GiveUp(f"{starts} starts ended in {len(found)} of {m} minima")
    return undone(given, found, 1 / margin, starts)


def at_once(given: Whitened, run: Run, *, margin: float, gamma: float) -> Found:
    """A minimum of (3)."""
    m = given.quartic.shape[0]
    flat = given.quartic.reshape(m * m, m * m)
    first = run.normal(m, m).numpy(force=True).ravel() / np.sqrt(m)
    options = {"gtol": 1e-9, "maxiter": 3000}
    end = minimize(joint, first, args=(flat, margin, gamma), jac=True, method="BFGS", options=options).x.reshape(m, m)
    if not np.linalg.cond(end) < 2 * FAR:
        raise GiveUp("the simultaneous objective ended in dependent rows")
    return undone(given, end, gamma / margin, 1)


def lone(y: Array, flat: Array, margin: float) -> tuple[float, Array]:
    """(1) and its gradient."""
    cubic = (flat @ np.outer(y, y).ravel()).reshape(len(y), -1) @ y
    excess = y @ y - 1
    return float(-y @ cubic + margin * excess**2), -4 * cubic + 4 * margin * excess * y


def joint(rows: Array, flat: Array, margin: float, gamma: float) -> tuple[float, Array]:
    """(3) and its gradient, on flattened rows."""
    m = round(np.sqrt(len(flat)))
    y = rows.reshape(-1, m)
    squares = np.einsum("ji,jk->jik", y, y).reshape(len(y), -1)
    through = squares @ flat
    pairs, excess = through @ squares.T, (y * y).sum(axis=1) - 1
    weights = 1.0 - (1.0 + gamma) * np.eye(len(y))
    value = (weights * pairs).sum() + margin * (excess**2).sum()
    slope = np.einsum("jik,jk->ji", (weights @ through).reshape(len(y), m, m), y)
    return float(value), (4 * slope + 4 * margin * excess[:, None] * y).ravel()


def undone(given: Whitened, rows: Array, shift: float, starts: int) -> Found:
    """(4)."""
    z = torch.as_tensor(rows, dtype=given.frame.dtype, device=given.frame.device) @ given.frame.T
    r = torch.linalg.pinv(z)  # columns r_i
    length = r.norm(dim=0)
    return Found(r / length, length.square() + shift, starts)


def on_the_sphere(b: Tensor, m: int, run: Run) -> Found:
    """Maxima of (5) from rounds of starts orthogonal to those found, and B there as their c_i."""
    found = b.new_empty(0, b.shape[0])
    for rounds in range(1, TRIES + 1):
        starts = run.sphere(2 * m, b.shape[0])
        starts = starts - starts @ found.T @ found
        for end in ascended(b, starts / starts.norm(dim=1, keepdim=True)):
            if len(found) < m and not bool(((found @ end).abs() > SAME).any()):
                found = torch.cat([found, end[None]])
        if len(found) == m:
            heights = torch.einsum("abcd,ra,rb,rc,rd->r", b, *[found] * 4)
            return Found(found.T, heights, 2 * m * rounds)
    raise GiveUp(f"{2 * m * TRIES} starts ended in {len(found)} of {m} maxima")


def ascended(b: Tensor, z: Tensor) -> Tensor:
    """The maxima of (5) that shifted power steps reach from unit rows."""
    flat = b.flatten(2).flatten(0, 1)
    shift = float(torch.linalg.matrix_norm(flat, 2))
    for _ in range(ASCENTS):
        previous, z = z, step(z, flat, shift)
        if float((z - previous).norm(dim=1).max()) < STILL:
            break
    return z


def step(z: Tensor, flat: Tensor, shift: float) -> Tensor:
    """One power step of (5) from unit rows, shifted so that it ascends."""
    d = z.shape[1]
    slope = torch.einsum("rij,rj->ri", (torch.einsum("ri,rj->rij", z, z).flatten(1) @ flat).view(-1, d, d), z)
    z = slope + shift * z
    return z / z.norm(dim=1, keepdim=True)


def start(found: Array, m: int, run: Run) -> Array:
    """A random unit vector orthogonal to what was found."""
    y = run.normal(1, m)[0].numpy(force=True)
    basis = np.linalg.qr(found.T)[0]
    y = y - basis @ (basis.T @ y)
    return np.asarray(y / np.linalg.norm(y))


def signs(found: Found, first: Tensor) -> Tensor:
    """The s_i of Σ_i s_i c_i w_i = T_1 / u_1, each ±1 where everything is right."""
    return torch.linalg.pinv(found.columns * found.coefficients) @ first
