"""The validation bound against sums of binomial probabilities."""

import numpy as np
import pytest
from leave_out import rows
from scipy.stats import binom
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from everystump.bounds import validation_bound

ETAS = [0.01, 0.05, 0.3]


def bound_of(n_wrong, n_rows, **parameters):
    """Return the bound of a classifier that predicts 0 for all rows, of which some are 1."""
    fixed = DummyClassifier(strategy="constant", constant=0).fit([[0.0], [0.0]], [0, 1])
    y = np.arange(n_rows) < n_wrong
    return validation_bound(fixed, np.zeros((n_rows, 1)), y.astype(int), **parameters)


def test_two_errors_of_143():
    """The published Clopper-Pearson limit, and that of eq. 16."""
    exact, paper = bound_of(2, 143), bound_of(2, 143, method="paper")
    assert exact.value == pytest.approx(0.0434, abs=5e-5)
    assert paper.value == pytest.approx(0.1890, abs=5e-5)
    assert exact.observed == paper.observed == 2 / 143
    assert "Clopper & Pearson" in exact.reference
    assert "eq. 16" in paper.reference


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("n_rows", [1, 2, 7, 40])
@pytest.mark.parametrize("n_candidates", [1, 6])
def test_at_the_bound_so_few_errors_have_probability_eta(n_rows, eta, n_candidates):
    """The definition, by the sum of binomial probabilities; 1 if all rows are errors."""
    for n_wrong in range(n_rows):
        bound = bound_of(n_wrong, n_rows, eta=eta, n_candidates=n_candidates)
        tail = sum(binom.pmf(k, n_rows, bound.value) for k in range(n_wrong + 1))
        assert tail == pytest.approx(eta / n_candidates, rel=1e-9)
        assert not bound.vacuous
    all_wrong = bound_of(n_rows, n_rows, eta=eta, n_candidates=n_candidates)
    assert all_wrong.value == 1.0 and all_wrong.vacuous


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("method", ["exact", "paper"])
@pytest.mark.parametrize("n_rows", [1, 5, 30])
def test_the_bound_has_its_nominal_coverage(n_rows, eta, method):
    """The probability of a bound below the true error, summed over all numbers of errors."""
    values = [bound_of(k, n_rows, eta=eta, method=method).value for k in range(n_rows + 1)]
    # The coverage is lowest just above a bound.
    for error in [*np.linspace(0, 1, 101), *(min(v * (1 + 1e-12), 1.0) for v in values)]:
        probability = sum(
            binom.pmf(k, n_rows, error) for k in range(n_rows + 1) if values[k] < error
        )
        assert probability <= eta * (1 + 1e-9)


def test_no_errors_have_a_closed_form():
    for n_rows in (1, 10, 1000):
        assert bound_of(0, n_rows).value == pytest.approx(1 - 0.05 ** (1 / n_rows))


def test_the_exact_bound_is_never_above_the_papers():
    for n_rows in (1, 3, 50):
        for n_wrong in range(n_rows + 1):
            exact = bound_of(n_wrong, n_rows, n_candidates=4).value
            assert exact <= bound_of(n_wrong, n_rows, n_candidates=4, method="paper").value


def test_equation_16_is_its_formula():
    X, y = rows(9, n=60)
    model = LogisticRegression().fit(X[:20], y[:20])
    wrong = np.mean(model.predict(X[20:]) != y[20:])
    bound = validation_bound(model, X[20:], y[20:], n_candidates=7, eta=0.1, method="paper")
    assert bound.observed == wrong
    assert bound.value == pytest.approx(wrong + np.sqrt((np.log(7) - np.log(0.1 / 4)) / 40))
    assert bound.holds
    assert any("no more than 7 models" in text for text in bound.assumptions)


def test_invalid_method():
    with pytest.raises(ValueError, match=r"method='eq16' must be one of \['exact', 'paper'\]"):
        bound_of(0, 3, method="eq16")
