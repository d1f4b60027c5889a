"""ResNet-50 as its block recipe gives it, against the list of operators in its record."""

import collections
import tomllib

from _harness import SOURCE, check, equal, finish

record = tomllib.loads((SOURCE / "catalog" / "models" / "resnet-50.toml").read_text())

# Convolutions as (in, out, kernel, size of the output): a stem, then stages of 3, 4, 6 and 3 blocks of 1x1, 3x3 and
# 1x1. The first block of a stage halves the picture in its 3x3 (all but stage 2) and has a shortcut of its own.
recipe = [(3, 64, 7, 112)]
sums, channels, size = collections.Counter(), 64, 56
for stage, blocks in enumerate([3, 4, 6, 3]):
    width = 64 << stage
    for block in range(blocks):
        after = size // 2 if block == 0 and stage > 0 else size
        recipe += [(channels, width, 1, size), (width, width, 3, after), (width, 4 * width, 1, after)]
        if block == 0:
            recipe.append((channels, 4 * width, 1, after))
        channels, size = 4 * width, after
        sums[channels, size] += 1


def listed(kind):
    return [one for one in record["operator"] if one["kind"] == kind]


found = collections.Counter()
for one in listed("convolution"):
    equal(one["name"].split()[0] == "stem", one["in"] == 3, f"pictures enter the stem: {one['name']}")
    check(one.get("groups", 1) == 1 and not one.get("bias", False), f"plain convolution: {one['name']}")
    found[one["in"], one["out"], one.get("kernel", 1), one["height"]] += one.get("repeats", 1)
equal(found, collections.Counter(recipe), "convolutions")

# A norm follows each convolution, an activation each but the last of a block and its shortcut; the sum has one.
norms = collections.Counter()
for one in listed("normalisation"):
    norms[one["out"], one["height"]] += one.get("repeats", 1)
equal(norms, collections.Counter((out, after) for _, out, _, after in recipe), "norms")

elements = collections.Counter()
for one in listed("elementwise"):
    elements[one["name"].split()[-1]] += one.get("repeats", 1) * one["out"] * one.get("height", 1) ** 2
inside = sum(out * after * after for _, out, kernel, after in recipe if (out, after) not in sums)
outside = sum(count * out * after * after for (out, after), count in sums.items())
equal(elements["sum"], outside, "elements of sums")
equal(elements["relu"], inside + outside, "elements of activations")
equal(elements["pool"], 64 * 56 * 56 + 2048, "elements of pools")

weights = sum(i * o * k * k for i, o, k, _ in recipe) + sum(2 * o for _, o, _, _ in recipe) + 2049 * 1000
equal(record["parameters"], weights, "parameters of the record")
equal(record["published_total"], weights, "published parameters")
multiply_adds = sum(i * o * k * k * s * s for i, o, k, s in recipe) + 2048 * 1000
check(abs(multiply_adds / 4.089e9 - 1) < 0.001, f"multiply-adds of a picture: {multiply_adds}")

finish()
