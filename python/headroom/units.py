"""Units for arguments: `80 * units.GB`, `30 * units.days`. Plain numbers have the unit that the option's help names."""

from __future__ import annotations


def _is_number(value: object) -> bool:
    """Whether it is one real number, of whatever library."""
    return hasattr(value, "__float__") and not isinstance(value, (bool, complex)) and not getattr(value, "ndim", 0)


class Quantity:
    """A number with a unit, written as the command line reads it."""

    __slots__ = ("value", "unit")

    def __init__(self, value: float, unit: str):
        self.value, self.unit = value, unit

    def __rmul__(self, factor: float) -> "Quantity":
        if not _is_number(factor):  # an array multiplies each of its numbers
            return NotImplemented
        return Quantity(self.value * factor, self.unit)

    __mul__ = __rmul__

    def __truediv__(self, divisor: float) -> "Quantity":
        if not _is_number(divisor):
            return NotImplemented
        return Quantity(self.value / divisor, self.unit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        number = self.value if isinstance(self.value, (int, float)) else float(self.value)  # a fraction, a scalar of another library
        value = int(number) if float(number).is_integer() and abs(number) < 1e15 else number
        return f"{value}{self.unit}"

    def __repr__(self) -> str:
        return f"<{self}>"


kB, MB, GB, TB = (Quantity(1, unit) for unit in ("kB", "MB", "GB", "TB"))
KiB, MiB, GiB, TiB = (Quantity(1, unit) for unit in ("KiB", "MiB", "GiB", "TiB"))
us, ms, s, minutes, h, days = (Quantity(1, unit) for unit in ("us", "ms", "s", "min", "h", "d"))
GBps, Gbps = Quantity(1, "GB/s"), Quantity(1, "Gbit/s")
TFLOPS = Quantity(1, "TFLOP/s")
dollars_per_hour = Quantity(1, "$/h")
