"""How large the checks beside the suites are."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Of the checks."""

    dimensions: tuple[int, ...] = (20, 25, 30, 35, 40, 45, 50)
    draws: int = 3
    frame: int = 12
    frame_starts: int = 400
    overcomplete: tuple[int, ...] = (16, 20)
    span: int = 12
    initial: tuple[int, ...] = (12, 20, 30, 40)
    descent: tuple[int, int] = (12, 17)
    descent_steps: int = 2000
    figure: int = 50
    widths: tuple[int, ...] = (50, 110, 170, 230, 290, 350, 410, 470, 530, 590)
    repetitions: int = 2
    students: tuple[tuple[int, int], ...] = ((25, 250), (35, 490), (50, 377), (50, 1000))
    student_steps: int = 250
    samples: tuple[int, ...] = (1000, 10_000, 100_000)
    past: tuple[int, int] = (6, 30)
