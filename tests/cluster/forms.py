"""Time of collectives: Headroom's answer, and closed forms written here as an independent check of it."""

import math
import subprocess


def rounds(ranks):
    return math.ceil(math.log2(ranks))


def bruck_blocks(ranks):
    """Shards that a rank sends in Bruck's all-to-all: in round k those whose distance has bit k."""
    return sum(1 for distance in range(ranks) for bit in range(rounds(ranks)) if distance >> bit & 1)


def lower_power(ranks):
    return 1 << (ranks.bit_length() - 1)


def doubled(ranks):
    """Recursive doubling; ranks beyond a power of two hand in their vector first and get the sum at the end."""
    extra, steps = ranks != lower_power(ranks), rounds(lower_power(ranks))
    return steps + 2 * extra, steps + 2 * extra, steps + extra


def halved_and_doubled(ranks):
    power = lower_power(ranks)
    extra, steps, share = ranks != power, rounds(power), (power - 1) / power
    return 2 * steps + 2 * extra, 2 * share + 2 * extra, share + extra


# (messages on the critical path, bytes of them over n, bytes added over n)
FORMS = {
    ("all_reduce", "ring"): lambda p: (2 * (p - 1), 2 * (p - 1) / p, (p - 1) / p),
    ("all_reduce", "recursive_doubling"): doubled,
    ("all_reduce", "rabenseifner"): halved_and_doubled,
    ("all_reduce", "binomial"): lambda p: (2 * rounds(p), 2 * rounds(p), rounds(p)),
    ("reduce", "binomial"): lambda p: (rounds(p), rounds(p), rounds(p)),
    ("broadcast", "binomial"): lambda p: (rounds(p), rounds(p), 0),
    ("broadcast", "van_de_geijn"): lambda p: (2 * rounds(p), 2 * (p - 1) / p, 0),
    ("broadcast", "scatter_ring"): lambda p: (rounds(p) + p - 1, 2 * (p - 1) / p, 0),
    ("all_gather", "ring"): lambda p: (p - 1, (p - 1) / p, 0),
    ("all_gather", "recursive_doubling"): lambda p: (rounds(p), (p - 1) / p, 0),
    ("all_gather", "bruck"): lambda p: (rounds(p), (p - 1) / p, 0),
    ("reduce_scatter", "ring"): lambda p: (p - 1, (p - 1) / p, (p - 1) / p),
    ("reduce_scatter", "pairwise"): lambda p: (p - 1, (p - 1) / p, (p - 1) / p),
    ("reduce_scatter", "recursive_halving"): lambda p: (rounds(p), (p - 1) / p, (p - 1) / p),
    ("all_to_all", "pairwise"): lambda p: (p - 1, (p - 1) / p, 0),
    ("all_to_all", "bruck"): lambda p: (rounds(p), bruck_blocks(p) / p, 0),
    ("all_to_all", "all_at_once"): lambda p: (1, (p - 1) / p, 0),
}
# whose form above is for powers of two only
POWERS_ONLY = {("all_gather", "recursive_doubling"), ("broadcast", "van_de_geijn"), ("reduce_scatter", "recursive_halving")}
# what the table of collectives has in parts
COMPOSED = {("all_reduce", "binomial"): [("reduce", "binomial"), ("broadcast", "binomial")]}


class Network:
    """alpha + n beta for a message, gamma a byte for adding; seconds and bytes."""

    def __init__(self, alpha, beta, gamma=0.0):
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def form(self, collective, algorithm, ranks, size):
        messages, sent, added = FORMS[collective, algorithm](ranks)
        return messages * self.alpha + size * (sent * self.beta + added * self.gamma)


class Prices:
    """Headroom's prices, asked for in one go; where its table has no such algorithm, the closed form of this file."""

    def __init__(self, program):
        self.program, self.wanted, self.known, self.not_in_table = program, {}, {}, set()

    def ask(self, collective, algorithm, ranks, size, network):
        for part in COMPOSED.get((collective, algorithm), [(collective, algorithm)]):
            line = f"{part[0]},{part[1]},{ranks},{size},{network.alpha!r},{network.beta!r},{network.gamma!r}"
            self.wanted[line] = None

    def fetch(self):
        done = subprocess.run([self.program], input="".join(f"{line}\n" for line in self.wanted), capture_output=True,
                              text=True, check=True, timeout=120)
        for line, answer in zip(self.wanted, done.stdout.splitlines(), strict=True):
            self.known[line] = answer.split(",")[-2:]

    def seconds(self, collective, algorithm, ranks, size, network):
        """(closed form, simulated schedule), both Headroom's; the two must agree with the form written here. None where
        neither has it."""
        closed = simulated = 0.0
        for part in COMPOSED.get((collective, algorithm), [(collective, algorithm)]):
            line = f"{part[0]},{part[1]},{ranks},{size},{network.alpha!r},{network.beta!r},{network.gamma!r}"
            form = None if part in POWERS_ONLY and ranks != lower_power(ranks) else network.form(*part, ranks, size)
            answer = self.known[line]
            if answer[0] == "-":
                self.not_in_table.add(part)
                if form is None:
                    return None
                answer = [form, form]
            part_closed, part_simulated = map(float, answer)
            if form is not None and max(abs(part_closed - form), abs(part_simulated - form)) > 1e-9 * form + 1e-10:
                raise SystemExit(f"{part} of {size} bytes on {ranks} ranks: {part_closed} and simulated "
                                 f"{part_simulated}, counted {form}")
            closed += part_closed
            simulated += part_simulated
        return closed, simulated


def fit(points):
    """alpha and beta >= 0 of alpha + n beta through (bytes, seconds): least squares of the relative error."""
    a = b = c = d = e = 0.0
    for size, seconds in points:
        u, v = 1 / seconds, size / seconds
        a, b, c, d, e = a + u * u, b + u * v, c + v * v, d + u, e + v
    beta = max(0.0, (a * e - b * d) / (a * c - b * b))
    return max(0.0, (d - b * beta) / a), beta
