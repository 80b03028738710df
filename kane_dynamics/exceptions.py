# SPDX-License-Identifier: Apache-2.0
"""
Exceptions of the package, one family; messages say what was expected, what came and what exists.

Whatever this package raises on purpose is a `KaneDynamicsError` and, where Python has a word for
it (`ValueError`, `KeyError`, `FileNotFoundError`, ...), one of those too.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from reprlib import Repr

_LISTED = 40
"""Names that a message lists; of more, the nearest ones."""
_brief = Repr()
_brief.maxother = _brief.maxstring = 60


def shorten(x: object) -> str:
    """
    Return a value as text, short enough for a message.

    Parameters
    ----------
    x : object
        Any value.

    Examples
    --------
    >>> from kane_dynamics.exceptions import shorten
    >>> len(shorten('x' * 1000)) < 200
    True

    """
    return ' '.join(_brief.repr(x).split())


def known_names(names: Iterable[str], name: object) -> str:
    """
    Return which names there are, for a message, and the one that was probably meant.

    Parameters
    ----------
    names : iterable of str
        Those that exist.
    name : object
        What was passed instead.

    Examples
    --------
    >>> from kane_dynamics.exceptions import known_names
    >>> known_names(['left_wheel', 'right_wheel'], 'left_weel')
    "there are ['left_wheel', 'right_wheel']; did you mean 'left_wheel'?"

    """
    known = sorted(names)
    near = get_close_matches(name, known, 5, 0.6) if isinstance(name, str) else []
    meant = f'; did you mean {near[0]!r}?' if near else ''
    if len(known) > _LISTED:
        return f'there are {len(known)}, e.g. {near or known[:5]}{meant}'
    return f'there are {known}{meant}'


class KaneDynamicsError(Exception):
    """Root of all errors raised by this package."""


class InvalidInputError(KaneDynamicsError, ValueError):
    """An argument has the wrong shape, is not finite, or lies outside its range."""


class NameNotFoundError(KaneDynamicsError, KeyError):
    """
    A joint, link or velocity name is not in the robot.

    Parameters
    ----------
    kind : str
        What was looked up, e.g. ``'joint'``.
    name : object
        What was asked for; a name is a str.
    available : iterable of str
        The names that exist.

    """

    def __init__(self, kind: str, name: object, available: Iterable[str]) -> None:
        self.name = name
        self.available = tuple(available)
        message = f'no {kind} named {shorten(name)}'
        if not isinstance(name, str):
            message = f'{kind}: need one name, got {shorten(name)}'
        super().__init__(f'{message}; {known_names(self.available, name)}')

    def __str__(self) -> str:
        """Return the message without the quotes that `KeyError` adds."""
        return str(self.args[0])


class UrdfError(KaneDynamicsError, ValueError):
    """Root of what can be wrong with a robot description."""


class UrdfFileError(UrdfError, FileNotFoundError):
    """The URDF file does not exist or cannot be read."""


class DeviceError(KaneDynamicsError, RuntimeError):
    """A graphics card, its driver, or what compiles for it is missing or refused."""


class SingularMassMatrixError(KaneDynamicsError, ValueError):
    """The mass matrix is not positive definite: some speed moves no mass."""


class ConstraintError(KaneDynamicsError, ValueError):
    """A constraint cannot be formulated for this robot."""


class InconsistentConstraintsError(KaneDynamicsError, ValueError):
    """
    No acceleration satisfies all constraint rows at once.

    Parameters
    ----------
    message : str
        What was being solved.
    rank : int
        Rank of the constraint matrix A.
    residual : float
        Norm of ``A vdot - b`` at the least-squares solution.

    """

    def __init__(self, message: str, rank: int, residual: float) -> None:
        self.rank = rank
        self.residual = residual
        super().__init__(f'{message} (rank {rank}, residual {residual:.3e})')


class UnreachableAccelerationError(KaneDynamicsError, ValueError):
    """
    The actuated joints and the constraint forces cannot produce the wanted acceleration.

    Parameters
    ----------
    message : str
        What was wanted.
    names : iterable of str
        Velocities on which a force is missing, or that stay undetermined.
    residual : float
        Largest missing force or acceleration [SI].

    """

    def __init__(self, message: str, names: Iterable[str], residual: float) -> None:
        self.names = tuple(names)
        self.residual = residual
        super().__init__(f'{message}: {list(self.names)} (residual {residual:.3e})')


class InfeasiblePathError(KaneDynamicsError, ValueError):
    """
    A path cannot be passed at any speed without exceeding a limit.

    Parameters
    ----------
    message : str
        What is impossible.
    place : float
        Where on the path.
    limits : iterable of str
        Names of the limits that contradict it, or each other, with numbers.

    """

    def __init__(self, message: str, place: float, limits: Iterable[str]) -> None:
        self.place = place
        self.limits = tuple(limits)
        super().__init__(f'{message} at {place:g} of the path: {"; ".join(self.limits)}')


class NotSolvedError(KaneDynamicsError, ArithmeticError):
    """A solver ended without a solution, and without a proof that there is none."""


class ProjectionError(KaneDynamicsError, ArithmeticError):
    """The coordinates could not be brought back onto the holonomic constraints."""


class ContactError(KaneDynamicsError, ArithmeticError):
    """
    Closed contacts have no consistent forces.

    Dry friction allows none, as in Painleve's paradox.
    """


class StepError(KaneDynamicsError, ArithmeticError):
    """A time step has no solution, or one that creates energy; it is too long for the motion."""


class DivergedError(StepError):
    """A simulated motion left all bounds, or will: the step is too long for it."""


class UnsupportedOperationError(KaneDynamicsError, NotImplementedError):
    """A function that was traced holds an operation that has no machine code here."""


class NotFingerprintableError(KaneDynamicsError, TypeError):
    """A value, e.g. a user's function, has content that is not hashed, so code is not kept."""


class MissingPackageError(KaneDynamicsError, ImportError):
    """
    Something needs a package that is not installed.

    Parameters
    ----------
    purpose : str
        What needs it.
    package : str
        What cannot be imported.
    remedy : str
        What installs it.

    """

    def __init__(self, purpose: str, package: str, remedy: str) -> None:
        self.package = package
        super().__init__(f'{purpose} needs {package}, which is not installed: {remedy}')


class SweepError(KaneDynamicsError, RuntimeError):
    """The workers of a sweep cannot do their part, or its results do not fit together."""


class PerformanceWarning(UserWarning):
    """Some functions of a compiled robot are not machine code, but numpy."""


class ModelWarning(UserWarning):
    """The robot description is unusual, but its physics can go on."""
