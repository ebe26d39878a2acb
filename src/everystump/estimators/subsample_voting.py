"""Votes of machines that each saw a part of the rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import make_columns
from everystump._core.shapes import combine
from everystump._core.threads import count_threads, one_blas_thread, parallel_map, shares_memory
from everystump._sklearn_compat import HasMethods, Interval, one_of
from everystump._tables.labels import classifier_scores, log_probabilities, vote_shares
from everystump._tables.overlap import Overlap
from everystump._tables.validation import TrainingTable, check_rows, check_table
from everystump._tables.weighted_rows import WeightedRows, supports_sample_weight
from everystump.bounds._nested_overlap import with_prefit_members
from everystump.estimators._base import ShapeClassifier, per_class
from everystump.estimators._bounded import VoteBoundsMixin
from everystump.estimators._subsamples import (
    Share,
    ThreadTrainer,
    aligned_shapes,
    check_templates,
    check_weights,
    draw_features,
    draw_rows,
    fit_member,
    make_stacks,
    member_data,
    pick,
    seeded,
    subsample_size,
)
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV

_FEW_ROWS = 3000
_BINS = 256


class SubsampleVotingClassifier(MetaEstimatorMixin, ShapeClassifier, VoteBoundsMixin):
    """Vote of machines, each trained on some rows drawn without replacement.

    The voting (VCC) and adaptive (ACC) combinations of Evgeniou, Pontil & Elisseeff (2004), a
    variant of bagging whose leave-one-out error can be bounded; see `everystump.bounds`.

    Parameters
    ----------
    estimator : estimator or list of estimators
        The machine, which gets its rows as arrays of numbers.  A list is dealt out in turn, so that
        machines differ in kernel or parameters.  A `KernelSVC` has its own ``memory_limit``.
    n_estimators : int, default=30
        How many machines, T.
    subsample : float or int, default=0.4
        The share or the number, r, of the rows that each machine gets.
    combine : {"mean", "svm"}, default="mean"
        "mean" weighs the machines by `weights`; "svm" learns weights by a linear SVM on the
        machines' outputs on all rows.
    weights : array-like of shape (n_estimators,), optional
        The weights c_t for ``combine="mean"``, none negative, summing to 1; equal by default.
    outputs : {"scores", "votes"}, default="scores"
        Whether scores are combined or their signs (for several classes, the winning class).
    feature_subsets : float, int or list of lists, optional
        The features of each machine: a share or a number of them drawn at random, or lists of
        numbers or names that are dealt out in turn; all by default.
    C : float, default=1.0
        Of the linear SVM.
    random_state : int, RandomState instance or None, default=None
        Draws rows and features.  The same rows give the same draws in whatever order they come.
    n_jobs : int, optional
        Threads.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says, which can also send the machines elsewhere.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted machines.  ``gamma="scale"`` of a `KernelSVC` is taken from all rows once.
    estimators_samples_ : list of ndarray of int
        The rows of each machine; where copies of a row were drawn, once if the machine takes
        sample weights.
    estimators_features_ : list of ndarray of int or None
        The features of each machine, None if all.
    weights_ : ndarray of shape (n_estimators,)
        The weights; with ``combine="svm"`` and several classes of shape
        (n_classes, n_estimators * n_classes).
    intercept_ : ndarray of shape (1,) or (n_classes,)
        What the linear SVM adds, else 0.
    certificate_ : Certificate or None, or a list of them
        Of the linear SVM.
    shapes_ : ShapeModel, or a list of them for several classes
        The whole vote as one shape model, if all machines are ensembles of stumps on all features
        and scores are combined.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature moves the score, in shares that sum to 1; see `explain_global` (with
        ``shapes_`` only).
    expansions_ : list of Expansion
        The whole vote as one kernel expansion for each kernel, if all machines are `KernelSVC` with
        kernels that do not depend on their rows, on all features, and scores are combined.
    n_rows_ : int
        How many rows the training table has.
    classes_, n_features_in_, feature_names_in_
        As in `StumpSVC`.

    Examples
    --------
    >>> from everystump import KernelSVC, SubsampleVotingClassifier
    >>> from everystump.bounds import det_loo_bound
    >>> from everystump.datasets import make_threenorm
    >>> X, y = make_threenorm(300, random_state=0)
    >>> machine = KernelSVC(C=0.5, gamma=0.02, fit_intercept=False)
    >>> model = SubsampleVotingClassifier(machine, random_state=0).fit(X, y)
    >>> len(model.estimators_), det_loo_bound(model, X, y).value < 0.5
    (30, True)
    """

    _fitted_attribute: ClassVar[str] = "weights_"

    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "predict"]), list],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "subsample": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "combine": [one_of("mean", "svm")],
        "weights": ["array-like", None],
        "outputs": [one_of("scores", "votes")],
        "feature_subsets": [
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            list,
            None,
        ],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_estimators: int = 30,
        subsample: float = 0.4,
        combine: str = "mean",
        weights: Any = None,
        outputs: str = "scores",
        feature_subsets: Any = None,
        C: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.combine = combine
        self.weights = weights
        self.outputs = outputs
        self.feature_subsets = feature_subsets
        self.C = C
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        """Say what the machines take: missing values, precomputed products."""
        tags = super().__sklearn_tags__()
        taken = [get_tags(template).input_tags for template in self._templates()]
        tags.input_tags.pairwise = any(of.pairwise for of in taken)
        tags.input_tags.allow_nan = all(of.allow_nan for of in taken)
        return tags

    @property
    def _supports_categories(self) -> bool:
        return all(getattr(t, "_supports_categories", False) for t in self._templates())

    @property
    def categorical_features(self) -> Any:
        """Which features are categories: what the first machine says of them."""
        return getattr(self._templates()[0], "categorical_features", "from_dtype")

    def _templates(self) -> list:
        return self.estimator if isinstance(self.estimator, list) else [self.estimator]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the machines and weigh them.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of numbers, or of whatever all machines take; a pandas or polars frame keeps its
            column names.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), optional
            Whole weights count copies of a row: each machine draws its share of all copies, as it
            would from a table with repeated rows, and a weight of 0 is a row's absence.  With
            other weights rows are drawn as without, each once at most, and the machines are given
            the weights of their rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        check_templates(self._templates(), self.feature_subsets)
        weights = check_weights(self.weights, self.n_estimators, self.combine)
        table = check_table(self, X, y, sample_weight, None)
        shares = self._deal(table)
        self.classes_, self.n_rows_ = table.classes, table.n_input_rows
        self.estimators_samples_ = [table.kept[share.rows] for share in shares]
        self.estimators_features_ = [share.features for share in shares]
        with one_blas_thread:
            self.estimators_ = self._train(table, shares)
            self._stacks = make_stacks(self.estimators_, shares, table.X)
            self._weigh(table, weights)
        self._collapse(table)
        self._remember(table)
        return self

    def _sub_estimators(self) -> list:
        return self.estimators_

    def _compare(self, X: Any, y: Any) -> Overlap:
        """Compare rows with those of the vote, and with those of machines that were fitted."""
        own = super()._compare(X, y)
        if not any(isinstance(template, FrozenEstimator) for template in self._templates()):
            return own
        rows = check_rows(self, X)
        parts = [
            (machine, rows if features is None else rows[:, features])
            for machine, features in zip(self.estimators_, self.estimators_features_, strict=True)
            if isinstance(machine, FrozenEstimator)
        ]
        return with_prefit_members(own, parts, self.classes_, y)

    def _train(self, table: TrainingTable, shares: list[Share]) -> list:
        """Train the machines, here or wherever joblib's workers are."""
        if shares_memory():
            trainer = ThreadTrainer(table, shares, count_threads(self.n_jobs))
            return parallel_map(trainer.fit, shares, self.n_jobs, self.verbose)
        parts = (member_data(table, share) for share in shares)
        return parallel_map(fit_member, parts, self.n_jobs, self.verbose)

    def _deal(self, table: TrainingTable) -> list[Share]:
        """Draw what each machine gets."""
        rng = check_random_state(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        templates = [self._known(template, table) for template in self._templates()]
        given = zip(templates, self._templates(), strict=True)
        self._adaptive = any(known is not template for known, template in given)
        drawn_from = WeightedRows.of(table.hashes, table.sample_weight)
        r = subsample_size(self.subsample, drawn_from.n_copies, len(table.classes))
        for template in templates:
            drawn_from.check_supports_weights(template)
        shares = []
        for t in range(self.n_estimators):
            template = templates[t % len(templates)]
            rows, weight = draw_rows(drawn_from, table.label, r, rng), None
            if supports_sample_weight(template):
                rows, weight = drawn_from.merged(rows)
            features = draw_features(self.feature_subsets, t, table.X.shape[1], names, rng)
            if get_tags(template).input_tags.pairwise:
                features = table.kept[rows]
            shares.append(Share(template, seeded(template, rng), rows, features, weight))
        return shares

    def _known(self, template: Any, table: TrainingTable) -> Any:
        """Return a template whose kernel no longer depends on the rows, where that can be."""
        if not isinstance(template, KernelSVC):
            return template
        template._validate_params()
        return (
            template._with_fixed_gamma(table.X, table.sample_weight)
            if self.feature_subsets is None
            else template
        )

    def _weigh(self, table: TrainingTable, weights: np.ndarray) -> None:
        """Combine the machines; learn how, if that is asked for."""
        if self.combine == "mean":
            self.weights_, self.certificate_ = weights, None
            self.intercept_ = np.zeros(self._n_outputs())
            return
        inputs = np.concatenate(self._outputs(table.X), axis=1)
        judge = KernelSVC("linear", C=self.C)
        judge.fit(inputs, table.classes[table.label], table.sample_weight)
        coef = judge.expansion_.linear_coef.T
        self.weights_ = coef[0] if len(coef) == 1 else coef
        self.certificate_, self.intercept_ = judge.certificate_, judge.intercept_

    def _coef(self) -> np.ndarray:
        """Return the weight of each machine's each output in each output of the vote."""
        if self.combine == "mean":
            return np.kron(self.weights_, np.eye(self._n_outputs()))
        return np.atleast_2d(self.weights_)

    def _collapse(self, table: TrainingTable) -> None:
        """Make one model of machines that add up to one: shape models, or expansions by kernel."""
        for of_last_fit in ("shapes_", "density_", "expansions_"):
            self.__dict__.pop(of_last_fit, None)
        if self.outputs == "votes":
            return
        whole = all(features is None for features in self.estimators_features_)
        if whole and all(hasattr(machine, "shapes_") for machine in self.estimators_):
            flat = [model for m in self.estimators_ for model in aligned_shapes(m, table.n_levels)]
            columns = make_columns(
                table.X,
                max_bins=_BINS,
                n_levels=table.n_levels,
                sample_weight=table.sample_weight,
            )
            self.density_ = columns.density()
            votes = [combine(flat, coef.tolist()) for coef in self._coef()]
            constants = zip(votes, self.intercept_, strict=True)
            self.shapes_ = per_class(
                [replace(v, intercept=v.intercept + float(b)) for v, b in constants]
            )
        if sum(len(stack.machines) for stack in self._stacks) == self.n_estimators:
            self.expansions_ = [stack.vote(self._coef()) for stack in self._stacks]

    def _remember(self, table: TrainingTable) -> None:
        """Keep what the bounds will ask for; for large tables it is made when they do."""
        self._problems = None
        small = len(table.label) <= _FEW_ROWS and table.sample_weight is None
        if small and self.combine == "mean" and hasattr(self, "expansions_"):
            self._problems = self._read(table.X, table.signs())

    def __getstate__(self) -> dict:
        """Leave out what the bounds can read again from the training table."""
        state = super().__getstate__()
        return state | {"_problems": None} if "_problems" in state else state

    def _has_log_odds(self) -> bool:
        """Tell whether all machines' scores are log-odds, so that their mean is one."""
        logistic = StumpLogisticRegression, StumpLogisticRegressionCV
        return all(isinstance(template, logistic) for template in self._templates())

    def _has_probabilities(self) -> bool:
        """Tell whether the vote is a mean of shares, of probabilities or of log-odds."""
        shares = self.outputs == "votes" or not any(
            hasattr(template, "decision_function") for template in self._templates()
        )
        return self.combine == "mean" and (shares or self._has_log_odds())

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row, as `predict` goes by it.

        With ``outputs="votes"`` it is the share of the votes; the mean of the machines'
        probabilities if they have no decision function; that of the mean log-odds if they are
        logistic.  Other scores are no probabilities, nor are those of ``combine="svm"``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows sum to 1.
        """
        score = self.decision_function(X)
        if self._has_log_odds() and self.outputs == "scores":
            return np.exp(log_probabilities(score))
        return vote_shares(score)

    def _n_outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _as_output(self, score: np.ndarray) -> np.ndarray:
        """Return scores as they enter the vote, (n_rows, n_outputs)."""
        score = score.reshape(len(score), -1)
        if self.outputs == "scores":
            return score
        if score.shape[1] == 1:
            return np.where(score > 0, 1.0, -1.0)
        return (score.argmax(axis=1)[:, None] == np.arange(score.shape[1])).astype(np.float64)

    def _outputs(self, X: np.ndarray) -> list[np.ndarray]:
        """Return what each machine says of the rows."""
        said: dict[int, np.ndarray] = {}
        n_threads = count_threads(self.n_jobs)
        for stack in self._stacks:
            scores = stack.expansion.evaluate(np.asarray(X, dtype=np.float64), n_threads)
            each = np.split(scores, len(stack.machines), axis=1)
            said |= dict(zip(stack.machines, each, strict=True))
        others = [t for t in range(self.n_estimators) if t not in said]
        pairs = [(self.estimators_[t], self.estimators_features_[t]) for t in others]
        with one_blas_thread:
            heard = parallel_map(partial(_score_one, X), pairs, self.n_jobs)
        said |= dict(zip(others, heard, strict=True))
        return [self._as_output(said[t]) for t in range(self.n_estimators)]

    def machine_scores(self, X: Any) -> np.ndarray:
        """Return what each machine alone says of the rows, as it enters the vote.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_estimators), or (n_rows, n_estimators * n_classes)
            One column for each machine; with more than two classes one for each of its classes.
        """
        check_is_fitted(self, "weights_")
        return np.concatenate(self._outputs(check_rows(self, X)), axis=1)

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        if hasattr(self, "shapes_"):
            return self._scores(X, self.shapes_)
        if hasattr(self, "expansions_"):
            rows, n_threads = np.asarray(X, dtype=np.float64), count_threads(self.n_jobs)
            parts = [expansion.evaluate(rows, n_threads) for expansion in self.expansions_]
            scores = np.sum(parts, axis=0) + self.intercept_
        else:
            scores = np.concatenate(self._outputs(X), axis=1) @ self._coef().T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores


def _score_one(X: np.ndarray, machine: tuple[Any, np.ndarray | None]) -> np.ndarray:
    fitted, features = machine
    return classifier_scores(fitted, pick(X, features))
