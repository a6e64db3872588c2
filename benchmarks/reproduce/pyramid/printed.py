"""The numbers that Rauchensteiner 2023 prints in its Tables 4.2 to 4.7, by widths, output and exactness of Hessians."""

from collections.abc import Mapping

Kind = tuple[str, str, bool]  # widths, output, whether derivatives are exact
Row = tuple[float, ...]
# Rauchensteiner 2023, Table 4.2 (numerical) and 4.3 (exact): Δ, then the largest error of a direction by layer.
ERRORS: Mapping[Kind, Row] = {
    ("50-25-10", "tanh", False): (0.31, 2.1e-2, 1.5e-2, 8.6e-3),
    ("50-25-10", "identity", False): (0.08, 9.3e-3, 3.1e-3),
    ("50-25-50", "tanh", False): (0.11, 7.8e-3, 3.9e-3, 3.3e-3),
    ("50-25-50", "identity", False): (0.04, 3.2e-3, 1.4e-3),
    ("50-35-25-10", "tanh", False): (1.00, 2.8e-2, 3.1e-2, 3.1e-2, 2.1e-2),
    ("50-35-25-10", "identity", False): (0.57, 1.9e-2, 1.9e-2, 1.5e-2),
    ("50-25-10", "tanh", True): (0.24, 1.7e-2, 1.4e-2, 7.7e-3),
    ("50-25-10", "identity", True): (0.08, 7.4e-3, 3.2e-3),
    ("50-25-50", "tanh", True): (0.09, 6.6e-3, 2.9e-3, 2.9e-3),
    ("50-25-50", "identity", True): (0.04, 3.4e-3, 1.4e-3),
    ("50-35-25-10", "tanh", True): (0.93, 2.6e-2, 3.2e-2, 2.8e-2, 1.8e-2),
    ("50-35-25-10", "identity", True): (0.31, 1.7e-2, 1.4e-2, 9.1e-3),
}
# The same tables: seconds of the span and of SPM.
TIMES: Mapping[Kind, Row] = {
    ("50-25-10", "tanh", False): (17, 12),
    ("50-25-10", "identity", False): (17, 12),
    ("50-25-50", "tanh", False): (25, 12),
    ("50-25-50", "identity", False): (25, 12),
    ("50-35-25-10", "tanh", False): (21, 12),
    ("50-35-25-10", "identity", False): (20, 12),
    ("50-25-10", "tanh", True): (13, 11),
    ("50-25-10", "identity", True): (12, 12),
    ("50-25-50", "tanh", True): (188, 12),
    ("50-25-50", "identity", True): (153, 12),
    ("50-35-25-10", "tanh", True): (16, 12),
    ("50-35-25-10", "identity", True): (14, 12),
}
# Tables 4.4 and 4.5: r_asgn by layer, share of full detections (of [50, 25, 50], identity, the cell of Table 4.4 is
# empty, the text says perfect), seconds.
ASSIGNED: Mapping[Kind, Row] = {
    ("50-25-10", "tanh", False): (0.998, 0.996, 1.0, 0.9, 17),
    ("50-25-10", "identity", False): (0.998, 0.996, 1.0, 0.9, 17),
    ("50-25-50", "tanh", False): (1.0, 1.0, 1.0, 1.0, 24),
    ("50-25-50", "identity", False): (1.0, 1.0, 1.0, 1.0, 24),
    ("50-25-10", "tanh", True): (0.998, 0.996, 1.0, 0.9, 13),
    ("50-25-10", "identity", True): (0.996, 0.992, 1.0, 0.8, 11),
    ("50-25-50", "tanh", True): (1.0, 1.0, 1.0, 1.0, 191),
    ("50-25-50", "identity", True): (1.0, 1.0, 1.0, 1.0, 155),
}
# Tables 4.6 and 4.7: E(Ṽ_l) of fully detected runs.
MATRICES: Mapping[Kind, Row] = {
    ("50-25-10", "tanh", False): (2.1e-2, 1.5e-2, 2.5e-7),
    ("50-25-10", "identity", False): (9.6e-3, 3.1e-3, 1.9e-7),
    ("50-25-50", "tanh", False): (7.8e-3, 3.9e-3, 2.7e-7),
    ("50-25-50", "identity", False): (3.2e-3, 1.4e-3, 2.1e-7),
    ("50-35-25-10", "tanh", False): (2.8e-2, 3.1e-2, 3.1e-2, 2.9e-7),
    ("50-35-25-10", "identity", False): (1.9e-2, 1.9e-2, 1.5e-2, 2.4e-7),
    ("50-25-10", "tanh", True): (1.7e-2, 1.4e-2, 2.1e-8),
    ("50-25-10", "identity", True): (8.0e-3, 3.3e-3, 2.1e-8),
    ("50-25-50", "tanh", True): (6.6e-3, 2.9e-3, 2.8e-8),
    ("50-25-50", "identity", True): (3.4e-3, 1.4e-3, 2.7e-8),
    ("50-35-25-10", "tanh", True): (2.6e-2, 3.2e-2, 2.8e-2, 2.0e-8),
    ("50-35-25-10", "identity", True): (1.7e-2, 1.3e-2, 8.7e-3, 2.2e-8),
}
