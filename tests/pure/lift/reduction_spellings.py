"""Sums, extremes, deviations and softmax in the spellings that kernels have for them, of a list of elements."""

from functools import reduce

from tests.pure.lift.symbolic_floats import constant, exp, lowest, maximum, select

COUNT = 7  # of the elements


def total(items):
    return reduce(lambda a, b: a + b, items)


def in_pairs(items, merge):
    while len(items) > 1:
        pairs = [items[at : at + 2] for at in range(0, len(items), 2)]
        items = [merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return items[0]


def mean(x):
    return total(x) / len(x)


def chain(x, taken):
    return reduce(lambda best, value: select(taken(value, best), value, best), x)


def welford(x):
    """The mean and the squared deviations of elements that come one by one."""
    average, squares = x[0], x[0] * 0
    for seen, value in enumerate(x[1:], 2):
        before = value - average
        average = average + before / seen
        squares = squares + before * (value - average)
    return average, squares


def merged(one, other):
    """Chan's merge of two partial states: count, mean, squared deviations."""
    (m, mean_m, squares_m), (n, mean_n, squares_n) = one, other
    apart = mean_n - mean_m
    return m + n, mean_m + apart * n / (m + n), squares_m + squares_n + apart * apart * (m * n) / (m + n)


def merged_welford(x):
    states = [(len(part), *welford(part)) for part in (x[0:2], x[2:3], x[3:5], x[5:])]
    return in_pairs(states, merged)[2]


def two_pass(x):
    average = mean(x)
    return total([(value - average) * (value - average) for value in x])


def squares_less_mean(x):
    average = mean(x)
    return total([value * value for value in x]) - average * average * len(x)


def shifted(x):
    """The squared deviations from the first element, corrected."""
    parts = [value - x[0] for value in x]
    return total([part * part for part in parts]) - total(parts) * total(parts) / len(x)


def softmax(x):
    largest = reduce(maximum, x)
    return exp(x[2] - largest) / total([exp(value - largest) for value in x])


def online(x):
    """The largest and the sum of exponentials less it, one by one."""
    largest, summed = lowest(x[0].graph), constant(x[0].graph, 0)
    for value in x:
        new = maximum(largest, value)
        summed = summed * exp(largest - new) + exp(value - new)
        largest = new
    return largest, summed


def merged_sums(one, other):
    (largest_one, one_sum), (largest_other, other_sum) = one, other
    largest = maximum(largest_one, largest_other)
    return largest, one_sum * exp(largest_one - largest) + other_sum * exp(largest_other - largest)


def guarded_sums(one, other):
    """The same with a case for equal extremes, as kernels that fear `-inf - -inf` have it."""
    (a, one_sum), (b, other_sum) = one, other
    largest = maximum(a, b)
    left = select(a.same(largest), one_sum, one_sum * exp(a - largest))
    right = select(b.same(largest), other_sum, other_sum * exp(b - largest))
    return largest, left + right


def online_softmax(x, merge=None):
    largest, summed = in_pairs([online(part) for part in (x[:3], x[3:4], x[4:])], merge) if merge else online(x)
    return exp(x[2] - largest) / summed


def argument(x, taken, payloads=range(COUNT)):
    best, index = x[0], constant(x[0].graph, payloads[0])
    for value, own in zip(x[1:], payloads[1:], strict=True):
        is_taken = taken(value, best, own, index)
        index, best = select(is_taken, own, index), select(is_taken, value, best)
    return index


def merged_argument(x, beyond):
    def merge(one, other):
        (best, index), (value, own) = one, other
        is_taken = beyond(value, best) | (value.same(best) & (own < index))
        return select(is_taken, value, best), select(is_taken, own, index)

    return in_pairs([(value, constant(x[0].graph, at)) for at, value in enumerate(x)], merge)[1]
