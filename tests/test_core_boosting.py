"""Stump search, boosting and its losses against plain NumPy and exhaustive search."""

from itertools import pairwise

import numpy as np
import pytest
from column_examples import category, numbers
from oracles import every_stump, seeds, smallest_error
from scipy.optimize import minimize_scalar

from everystump._core import lossloops
from everystump._core.boosting.boosting import StopReason, best_of_all, best_of_random, boost
from everystump._core.boosting.gains import (
    error_gains,
    exclude_small_sides,
    first_at_least,
    gini_gains,
)
from everystump._core.boosting.losses import BOOSTING_LOSSES
from everystump._core.boosting.rows import BoostedRows
from everystump._core.boosting.search import CHANCE, Stump, StumpSearch
from everystump._core.boosting.stumps import Stumps
from everystump._core.codes import Codes
from everystump._core.columns import make_columns
from everystump._core.packing import pack

SEEDS = seeds(8)


def error_of(stump, X, y, weight):
    return weight[stump.vote(X) != y].sum() / weight.sum()


def random_table(seed, n=40):
    """Return rows with ties, a constant and a continuous feature, signs and weights, some 0."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 5, n), rng.normal(size=n), np.full(n, 3.0), rng.integers(0, 30, n)]
    )
    y = np.where(rng.random(n) < rng.choice([0.2, 0.5]), 1.0, -1.0)
    y[:2] = -1, 1
    return X, y, rng.uniform(0.1, 1, n) * (rng.random(n) < 0.6) + (np.arange(n) < 2)


def bincounts(codes, sizes, y, weight):
    """Return the class-weight histograms of all features, end to end."""
    return np.array(
        [
            np.concatenate(
                [
                    np.bincount(code, weights=weight * (y == side), minlength=size)
                    for code, size in zip(codes, sizes, strict=True)
                ]
            )
            for side in (1, -1)
        ]
    )


def searched(X, y, weight, max_bins=1000, **options):
    """Return the columns, a search over them, and the histograms of the rows."""
    columns = make_columns(X, max_bins=max_bins)
    histograms = bincounts(columns.codes, columns.sizes, y, weight)
    return columns, StumpSearch(columns.columns, **options), histograms


@pytest.fixture(params=SEEDS)
def flat(request):
    """Return histograms of some features end to end, some bins empty."""
    rng = np.random.default_rng(request.param)
    columns = [numbers(1), numbers(7), numbers(6, missing=1.0), category(5), category(3, 1.0)]
    starts = np.concatenate([[0], np.cumsum([column.n_bins for column in columns])])
    histograms = rng.uniform(size=(2, starts[-1])) * (rng.random((2, starts[-1])) < 0.7)
    for a, b in pairwise(starts):
        histograms[:, a:b] *= 1 / (histograms[:, a:b].sum() or 1)
    return histograms, starts, np.concatenate([column.parents for column in columns])


def is_beyond(parents, edge):
    """Return which bins have the edge on their path to the root."""
    found = np.zeros(len(parents), dtype=bool)
    for k in range(len(parents)):
        found[k] = k == edge or (k > 0 and found[parents[k]])
    return found


def sides(table, parents, edge):
    """Return positive minus negative weight, and all weight, before and beyond an edge."""
    imbalance, weight = table[0] - table[1], table.sum(axis=0)
    beyond = is_beyond(parents, edge)
    return [[sums[part].sum() for part in (~beyond, beyond)] for sums in (imbalance, weight)]


def by_edge(histograms, starts, parents, gain):
    edges = [(a, b, k) for a, b in pairwise(starts) for k in range(b - a)]
    return np.array([gain(*sides(histograms[:, a:b], parents[a:b], k)) for a, b, k in edges])


def test_error_gains(flat):
    histograms, *tree = flat
    out = np.full(histograms.shape[1], np.nan)
    error_gains(histograms[0], histograms[1], *tree, out)
    expected = by_edge(
        histograms, *tree, lambda imbalance, weight: abs(imbalance[1] - imbalance[0])
    )
    np.testing.assert_allclose(out, expected, atol=1e-13)


def test_gini_gains(flat):
    histograms, *tree = flat
    out = np.full(histograms.shape[1], np.nan)
    gini_gains(histograms[0], histograms[1], *tree, out)

    def gain(imbalance, weight):
        parts = (t**2 / w for t, w in zip(imbalance, weight, strict=True) if w > 1e-15)
        return np.sqrt(sum(weight) * sum(parts))

    np.testing.assert_allclose(out, by_edge(histograms, *tree, gain), atol=1e-13)


@pytest.mark.parametrize("least", [0.0, 0.1, 0.4])
def test_exclude_small_sides(flat, least):
    histograms, *tree = flat
    gains = np.ones(histograms.shape[1])
    exclude_small_sides(histograms[0], histograms[1], *tree, least, gains)
    thin = by_edge(histograms, *tree, lambda imbalance, weight: min(weight) < least)
    thin[tree[0][:-1]] = False
    np.testing.assert_array_equal(gains, np.where(thin, -1.0, 1.0))


def test_first_at_least():
    gains = np.array([0.5, 1.0 - 1e-9, 1.0, 1.0])
    assert first_at_least(gains, 1.0) == 2
    assert first_at_least(gains, 1.0 - 1e-6) == 1
    assert first_at_least(gains, 0.0) == 0


def test_advance():
    rng = np.random.default_rng(0)
    margin, vote = rng.normal(scale=200, size=100), rng.choice([-1.0, 1.0], size=100)
    moved, out = margin.copy(), np.full(100, np.nan)
    lossloops.advance(vote, 0.5, 2.0, 10.0, -300.0, 200.0, moved, out)
    np.testing.assert_allclose(moved, margin + 0.5 * vote, rtol=1e-15)
    np.testing.assert_allclose(out, np.clip(10 - 2 * moved, -300, 200), rtol=1e-15)


SLOPES = {
    "mada": lambda odds, scale: np.minimum(odds, scale),
    "logistic": lambda odds, scale: odds / (1 + odds / scale),
}


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("scale", [1.0, 5.0, np.inf])
def test_derivatives_along_a_stump(name, scale):
    """The slope after a step is exact, the curvature that of central differences."""
    rng = np.random.default_rng(1)
    odds, cost = rng.lognormal(size=(2, 500))
    vote = rng.choice([-1.0, 1.0], size=500)
    kernel = getattr(lossloops, f"{name}_derivatives")

    def slope(t):
        return np.sum(vote * cost * SLOPES[name](odds * np.exp(-2 * t * vote), scale))

    for t in (0.0, 0.7, -0.3):
        found, fall = kernel(odds, vote, cost, np.exp(-2 * t), scale)
        assert found == pytest.approx(slope(t), rel=1e-12, abs=1e-10)
        assert fall == pytest.approx((slope(t - 1e-7) - slope(t + 1e-7)) / 2e-7, rel=1e-4)


@pytest.mark.parametrize("seed", seeds(30))
def test_no_stump_beats_the_best(seed):
    X, y, weight = random_table(seed)
    _, search, histograms = searched(X, y, weight)
    stump = search.best(histograms)
    assert stump.error == pytest.approx(smallest_error(X, y, weight), abs=1e-12)
    assert stump.error == pytest.approx(error_of(stump, X, y, weight), abs=1e-12)


@pytest.mark.parametrize("seed", seeds(30))
def test_the_best_stump_cuts_at_the_midpoint_between_values(seed):
    X, y, weight = random_table(seed)
    _, search, histograms = searched(X, y, weight)
    stump = search.best(histograms)
    feature, threshold, _ = every_stump(X[weight > 0])
    assert stump.threshold in threshold[feature == stump.feature]
    assert (stump.edge == 0) == np.isneginf(stump.threshold)
    values = search.columns[stump.feature].values
    np.testing.assert_array_equal(values >= stump.threshold, np.arange(len(values)) >= stump.edge)


@pytest.mark.parametrize("seed", seeds(20))
def test_a_stump_of_bins_cuts_between_bins(seed):
    X, y, weight = random_table(seed, n=200)
    columns, search, histograms = searched(X, y, weight, max_bins=6)
    stump = search.best(histograms)
    column = columns.columns[stump.feature]
    assert stump.threshold in np.append(column.cuts, -np.inf)
    assert stump.error == pytest.approx(error_of(stump, X, y, weight), abs=1e-12)
    assert stump.error == pytest.approx(smallest_error(columns.codes.T * 1.0, y, weight), abs=1e-12)


@pytest.mark.parametrize("seed", seeds(20))
def test_gini_against_every_split(seed):
    X, y, weight = random_table(seed)
    _, search, histograms = searched(X, y, weight, criterion="gini")
    stump = search.best(histograms)

    X, y, weight = (a[weight > 0] for a in (X, y, weight))

    def imbalances(vote):
        return [(weight * y)[vote == s].sum() for s in np.unique(vote)]

    def gain(vote):
        weights = [weight[vote == s].sum() for s in np.unique(vote)]
        return np.sum(np.square(imbalances(vote)) / weights)

    votes = every_stump(X)[2].T
    best = next(v for v in votes if gain(v) > max(map(gain, votes)) - 1e-11)
    if np.isfinite(stump.threshold):
        assert gain(stump.vote(X)) == pytest.approx(gain(best), abs=1e-11)
        assert imbalances(stump.vote(X))[0] < 0 < imbalances(stump.vote(X))[1]
    else:
        assert np.all(np.sign(imbalances(best)) == stump.direction)


@pytest.mark.parametrize("min_fraction", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("seed", SEEDS)
def test_each_side_has_the_minimum_weight(seed, min_fraction):
    X, y, weight = random_table(seed)
    _, search, histograms = searched(X, y, weight, min_fraction=min_fraction)
    stump = search.best(histograms)
    _, threshold, votes = every_stump(X)
    share = (votes > 0).T @ weight / weight.sum()
    allowed = np.isneginf(threshold) | (np.minimum(share, 1 - share) >= min_fraction)
    edges = (votes.T @ (weight * y))[allowed] / weight.sum()
    assert stump.error == pytest.approx((1 - np.abs(edges).max()) / 2, abs=1e-12)


def test_among_equals_the_first_feature_and_the_lowest_threshold():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    _, search, histograms = searched(X, np.array([-1, 1, -1, 1]), np.ones(4))
    assert search.best(histograms)[:5] == (0, 1, 0.5, -1, 1)
    assert search.best_of_feature(1, histograms[:, 4:])[:5] == (1, 1, 0.5, -1, 1)


@pytest.mark.parametrize("side", [1, -1])
def test_a_constant_vote_where_no_cut_is_better(side):
    X = np.array([[5.0], [5.0], [6.0]])
    _, search, histograms = searched(X, side * np.array([1, -1, 1]), np.array([2.0, 1.0, 4.0]))
    stump = search.best(histograms)
    assert stump[:5] == (0, 0, -np.inf, -1, side)
    np.testing.assert_array_equal(stump.vote(X), [side] * 3)
    assert (stump.correct, stump.incorrect) == (6.0, 1.0)


def cut(feature=0, threshold=0.0, direction=1, correct=0.75, incorrect=0.25):
    missing = direction if threshold == -np.inf else 0
    return Stump(feature, 0, threshold, -1, direction, missing, correct, incorrect)


def test_error_and_chance():
    assert cut(correct=3.0, incorrect=1.0).error == 0.25
    assert cut(correct=1.0, incorrect=1.0 - 1e-13).is_chance
    assert not cut(correct=1.0, incorrect=1.0 - 1e-9).is_chance
    assert CHANCE.is_chance


def test_votes_do_not_depend_on_the_dtype():
    """The midpoint of neighboring 32-bit floats needs more bits."""
    X = np.array([[1.0], [np.nextafter(np.float32(1), np.float32(2))]], dtype=np.float32)
    _, search, histograms = searched(X.astype(float), np.array([-1, 1]), np.ones(2))
    np.testing.assert_array_equal(search.best(histograms).vote(X), [-1, 1])


@pytest.mark.parametrize("seed", SEEDS)
def test_reweighted_and_bin_of(seed):
    X, y, weight = random_table(seed)
    _, search, histograms = searched(X, y, weight)
    stump = search.best(histograms)
    other = np.random.default_rng(seed).uniform(size=len(y))
    reweighted = search.reweighted(stump, searched(X, y, other)[2])
    assert reweighted[:6] == stump[:6]
    assert reweighted.error == pytest.approx(error_of(stump, X, y, other), abs=1e-12)
    column = search.columns[stump.feature]
    assert column.bin_of(stump.threshold, stump.level) == stump.edge
    first = search.columns[0]
    assert [first.bin_of(a, -1) for a in (-np.inf, 0.0, 0.5, np.inf)] == [0, 0, 1, 5]


@pytest.fixture
def ensemble():
    """Return random stumps, some twice and some constant, and rows of three features."""
    rng = np.random.default_rng(3)
    singles = [
        cut(int(d), float(a), int(s))
        for d, a, s in zip(
            rng.choice([0, 2], 30), rng.integers(-2, 3, 30), rng.choice([-1, 1], 30), strict=True
        )
    ] + [cut(1, -np.inf, s) for s in (1, 1, -1)]
    return singles, rng.uniform(size=33), rng.integers(-4, 5, size=(50, 3)).astype(float)


def test_staged_scores_are_running_votes(ensemble):
    singles, weights, X = ensemble
    running = np.cumsum([w * s.vote(X) for s, w in zip(singles, weights, strict=True)], axis=0)
    staged = list(Stumps.from_stumps(singles, weights).staged_scores(X))
    np.testing.assert_allclose(staged, running, atol=1e-13)
    assert len(list(Stumps.from_stumps(singles, weights).first(5).staged_scores(X))) == 5


def test_the_shape_model_is_the_weighted_vote(ensemble):
    singles, weights, X = ensemble
    expected = 0.5 + sum(w * s.vote(X) for s, w in zip(singles, weights, strict=True))
    model = Stumps.from_stumps(singles, weights).shape_model([0] * 3, intercept=0.5)
    np.testing.assert_allclose(model.evaluate(X), expected, atol=1e-13)
    np.testing.assert_array_equal(model[1](X[:, 1]), 0)
    assert model.intercept == pytest.approx(0.5 + weights[30] + weights[31] - weights[32])
    empty = Stumps.from_stumps([], []).shape_model([0] * 3, intercept=0.5)
    np.testing.assert_array_equal(empty.evaluate(X), 0.5)


def test_chosen_stumps_keep_multiplicities(ensemble):
    singles, weights, _ = ensemble
    measure = Stumps.from_stumps(singles, weights).as_measure(3)
    for d in range(3):
        cuts, times = np.unique(
            [s.threshold for s in singles[:30] if s.feature == d], return_counts=True
        )
        np.testing.assert_array_equal(measure.thresholds(d), cuts)
        column = numbers(len(cuts) + 1)
        np.testing.assert_array_equal(measure.stump_masses(column, d).inside, 2 * times)


def test_weights_from_jumps(ensemble):
    """The vote of the stumps has the given jumps at their thresholds."""
    singles, weights, X = ensemble
    stumps = Stumps.from_stumps(singles, weights)
    columns = make_columns(X, max_bins=1000, thresholds=stumps.as_measure(3).thresholds).columns
    steps = [np.random.default_rng(c.n_bins).normal(size=c.n_bins) for c in columns]
    weighed = stumps.with_jumps(columns, steps)
    for d, shape in enumerate(weighed.shape_model([0] * 3)):
        rise = shape(columns[d].cuts) - shape.left_limit(columns[d].cuts)
        np.testing.assert_allclose(rise, steps[d][1:], atol=1e-13)
    np.testing.assert_array_equal(weighed.weight[30:], 0)
    equal = (stumps.feature == 0) & (stumps.threshold == 1)
    assert np.ptp((weighed.weight * stumps.direction)[equal]) < 1e-15


@pytest.mark.parametrize("sizes", [(2, 3, 2), (2, 100, 3, 40, 4), (17, 30), (16, 16, 16, 2)])
def test_locations_and_sums_by_feature(sizes):
    rng = np.random.default_rng(5)
    codes = np.stack([np.append(np.arange(s), rng.integers(0, s, 400 - s)) for s in sizes])
    packing = pack(codes.astype(np.uint8), np.array(sizes))
    y, weight = rng.choice([-1, 1], size=400), rng.uniform(size=400)
    joint = bincounts(packing.codes.bins, np.diff(packing.starts), y, weight)
    expected = bincounts(codes, sizes, y, weight)
    np.testing.assert_allclose(packing.fold(joint), expected, atol=1e-12)
    first = np.concatenate([[0], np.cumsum(sizes)])
    for d, location in enumerate(packing.locations):
        np.testing.assert_array_equal(location.bins[packing.codes.bins[location.joint]], codes[d])
        part = joint[:, packing.starts[location.joint] : packing.starts[location.joint + 1]]
        np.testing.assert_allclose(
            location.feature_sums(part), expected[:, first[d] : first[d + 1]], atol=1e-12
        )


@pytest.mark.parametrize("name", BOOSTING_LOSSES)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e5])
def test_weights_are_minus_the_derivative_of_the_loss(name, scale):
    """Up to a factor; central differences of 1e-6 are good to about 1e-9."""
    loss, margin = BOOSTING_LOSSES[name], np.linspace(-4, 4, 102)
    slope = (loss.value(margin + 1e-6) - loss.value(margin - 1e-6)) / 2e-6
    ratio = loss.weight(scale * np.exp(-loss.rate * margin), scale) / -slope
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def boosted_rows(X, y, weight, loss, *, joined=True):
    columns = make_columns(X, max_bins=1000)
    packing = pack(columns.codes, columns.sizes)
    if not joined:
        packing = _one_by_one(columns)
    return columns, BoostedRows.in_memory(packing, y > 0, weight, BOOSTING_LOSSES[loss], 1)


def _one_by_one(columns):
    """Return a packing without joint columns."""
    singles = [pack(columns.codes[d : d + 1], columns.sizes[d : d + 1]) for d in range(4)]
    whole = pack(np.zeros((4, 1), dtype=columns.codes.dtype), np.array([100] * 4))
    starts = np.concatenate([[0], np.cumsum(columns.sizes)])
    locations = tuple(p.locations[0]._replace(joint=d) for d, p in enumerate(singles))
    parts = {
        "codes": Codes.from_bins(columns.codes, starts),
        "members": whole.members,
        "locations": locations,
    }
    return type(whole)(**parts, bins=(), expand_matrix=whole.expand_matrix)


@pytest.mark.parametrize("name", BOOSTING_LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_steps_minimize_the_summed_loss(name, seed):
    """Two rounds; SciPy uses values of the loss only, so steps agree to its precision."""
    X, y, weight = random_table(seed)
    weight = weight + 0.1
    columns, rows = boosted_rows(X, y, weight, name)
    loss, score = BOOSTING_LOSSES[name], np.zeros(len(y))
    for _ in range(2):
        search = StumpSearch(columns.columns)
        stump = search.best(rows.histograms())
        rows.apply_votes(stump, search)
        step = loss.step(stump, rows.derivatives)
        vote = stump.vote(X)

        def summed(t, score=score, vote=vote):
            return weight @ loss.value(y * (score + t * vote))

        best = minimize_scalar(summed, bounds=(0, 10), method="bounded", options={"xatol": 1e-10})
        assert step == pytest.approx(best.x, abs=1e-6)
        rows.advance(step, stump.correct + stump.incorrect)
        score = score + step * vote


@pytest.mark.parametrize("name", BOOSTING_LOSSES)
@pytest.mark.parametrize("features", ["best", "random"])
@pytest.mark.parametrize("seed", SEEDS)
def test_joined_columns_change_nothing(name, features, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(60, 4)).astype(float)
    y, weight = rng.choice([-1.0, 1.0], size=60), rng.uniform(0.5, 2, size=60)
    found = []
    for joined in (True, False):
        columns, rows = boosted_rows(X, y, weight, name, joined=joined)
        assert (len(rows._packing.members) < 4) == joined
        choose = best_of_all
        if features == "random":
            choose = best_of_random(np.random.default_rng(seed), 4)
        run = boost(
            rows, StumpSearch(columns.columns), choose, BOOSTING_LOSSES[name], n_estimators=15
        )
        assert run.stop_reason is StopReason.ROUNDS
        found.append(run.stumps)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
