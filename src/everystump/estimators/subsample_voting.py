"""Votes of estimators that are each fitted to a subsample."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from everystump._core.columns import make_columns
from everystump._core.gridweights import grid_weights
from everystump._core.shapes import combine
from everystump._core.threads import count_threads, one_blas_thread, parallel_map, shares_memory
from everystump._sklearn_compat import HasMethods, Interval, one_of, set_random_states
from everystump._tables.labels import classifier_scores, vote_fractions
from everystump._tables.overlap import Overlap
from everystump._tables.training_table import ClassTable
from everystump._tables.validation import check_rows
from everystump._tables.weighted_rows import WeightedRows, supports_sample_weight
from everystump.bounds._nested_overlap import with_prefit_members
from everystump.estimators._base import ProbabilityClassifier, unwrap_binary
from everystump.estimators._bounds import KernelVoteClassifier, member_samples
from everystump.estimators._subsamples import (
    MemberTask,
    ThreadTrainer,
    aligned_shapes,
    check_templates,
    check_weights,
    draw_features,
    draw_rows,
    fit_member,
    make_stacks,
    member_data,
    subsample_size,
)
from everystump.estimators.kernel_svc import KernelSVC
from everystump.estimators.logistic import StumpLogisticRegression, StumpLogisticRegressionCV

# Up to this many samples, the kernel machines are kept for the bounds.
_FEW_SAMPLES = 3000
_DENSITY_BINS = 256


@dataclass(eq=False, repr=False)
class SubsampleVotingClassifier(MetaEstimatorMixin, ProbabilityClassifier, KernelVoteClassifier):
    """Vote of estimators, each fitted to a subsample drawn without replacement.

    The voting (VCC) and adaptive (ACC) combinations of Evgeniou, Pontil & Elisseeff (2004), a
    variant of bagging whose leave-one-out error can be bounded; see `everystump.bounds`.

    Integer sample weights count copies of a sample, and each estimator draws from all copies.
    Other weights are passed to the estimators, and each sample is drawn at most once.

    ``predict_proba`` returns the fractions of votes with ``outputs="votes"``, the mean
    probabilities of estimators without a decision function, and the probabilities of the mean
    log-odds of logistic estimators.  It is not available for other scores or ``combine="svm"``.

    Parameters
    ----------
    estimator : estimator or list of estimators
        The base estimator, which is fitted to numeric arrays.  The estimators of a list are used in
        turn, so that they can differ in kernel or parameters.  Each `KernelSVC` has its own
        ``memory_limit``.
    n_estimators : int, default=30
        Number of estimators, T.
    subsample : float or int, default=0.4
        Fraction or number, r, of the samples that each estimator is fitted to.
    combine : {"mean", "svm"}, default="mean"
        "mean" combines with `weights`; "svm" learns the weights with a linear SVM on the outputs
        for all samples.
    weights : array-like of shape (n_estimators,), default=None
        Weights c_t for ``combine="mean"``: non-negative, summing to 1; equal by default.
    outputs : {"scores", "votes"}, default="scores"
        Whether to combine scores or their signs (with more than two classes, the predicted class).
    feature_subsets : float, int or list of lists, default=None
        Features of each estimator: a fraction or number of random features, or lists of names or
        indices that are used in turn; all features by default.
    C : float, default=1.0
        Inverse regularization strength of the linear SVM.
    random_state : int, RandomState instance or None, default=None
        Controls the subsamples and feature subsets.  The result does not depend on the order of the
        training samples.
    n_jobs : int, default=None
        Number of threads, as in `StumpSVC`; ``joblib.parallel_config`` can select other workers.
    verbose : int, default=0
        If 1, progress is shown.

    Attributes
    ----------
    estimators_ : list of estimators
        Fitted estimators.  ``gamma="scale"`` of a `KernelSVC` is computed once from all samples.
    estimators_samples_ : list of ndarray
        Indices of the samples of each estimator, each once if the estimator supports sample
        weights.
    estimators_features_ : list of ndarray or None
        Indices of the features of each estimator; None for all features.
    weights_ : ndarray of shape (n_estimators,)
        Weights; of shape (n_classes, n_estimators * n_classes) with ``combine="svm"`` and more than
        two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of the linear SVM, else 0.
    certificate_ : Certificate, list of Certificate or None
        Optimality certificate of the linear SVM.
    shapes_ : ShapeModel or list of ShapeModel
        The whole vote as shape functions, if all estimators are stump ensembles on all features
        and scores are combined.
    feature_importances_ : ndarray of shape (n_features,)
        Relative importance of each feature; see `explain_global`.  Requires ``shapes_``.
    expansions_ : list of Expansion
        The whole vote as one kernel expansion per kernel, if all estimators are `KernelSVC` on
        all features with kernels that do not depend on their samples, and scores are combined.
    n_rows_ : int
        Number of training samples.
    surface_density_ : tuple of ndarray
        As in `StumpSVC`, if the estimators have interactions and there are ``shapes_``.
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

    estimator: Any
    _: KW_ONLY
    n_estimators: int = 30
    subsample: float = 0.4
    combine: str = "mean"
    weights: Any = None
    outputs: str = "scores"
    feature_subsets: Any = None
    C: float = 1.0
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Tags:
        """Declare support for missing values and precomputed kernels."""
        tags = super().__sklearn_tags__()
        inner = [get_tags(template).input_tags for template in self._templates()]
        tags.input_tags.pairwise = any(inner_tags.pairwise for inner_tags in inner)
        tags.input_tags.allow_nan = all(inner_tags.allow_nan for inner_tags in inner)
        return tags

    @property
    def _supports_categories(self) -> bool:
        return all(getattr(t, "_supports_categories", False) for t in self._templates())

    @property
    def categorical_features(self) -> Any:
        """Categorical features, as in the first estimator."""
        return getattr(self._templates()[0], "categorical_features", "from_dtype")

    def _templates(self) -> list:
        return self.estimator if isinstance(self.estimator, list) else [self.estimator]

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_templates(self._templates(), self.feature_subsets)
        weights = check_weights(self.weights, self.n_estimators, self.combine)
        table = self._check_training_data(X, y, sample_weight)
        tasks = self._draw_tasks(table)
        self.classes_, self.n_rows_ = table.classes, table.n_input_rows
        self.estimators_samples_ = [table.input_index[task.rows] for task in tasks]
        self.estimators_features_ = [task.features for task in tasks]
        with one_blas_thread:
            self.estimators_ = self._fit_members(table, tasks)
            self._stacks = make_stacks(self.estimators_, tasks, table.X)
            self._fit_weights(table, weights)
        self._merge_members(table)
        self._store_problems(table)

    def _sub_estimators(self) -> list:
        return self.estimators_

    def _training_overlap(self, X: Any, y: Any) -> Overlap:
        overlap = super()._training_overlap(X, y)
        if not any(isinstance(template, FrozenEstimator) for template in self._templates()):
            return overlap
        rows = check_rows(self, X)
        prefit = [
            (member, member_samples(rows, slice(None), features))
            for member, features in zip(self.estimators_, self.estimators_features_, strict=True)
            if isinstance(member, FrozenEstimator)
        ]
        return with_prefit_members(overlap, prefit, self.classes_, y)

    def _fit_members(self, table: ClassTable, tasks: list[MemberTask]) -> list:
        """Fit the members in threads, or with the workers that joblib is configured for."""
        if shares_memory():
            trainer = ThreadTrainer(table, tasks, count_threads(self.n_jobs))
            return parallel_map(trainer.fit, tasks, self.n_jobs, self.verbose)
        data = (member_data(table, task) for task in tasks)
        return parallel_map(fit_member, data, self.n_jobs, self.verbose)

    def _draw_tasks(self, table: ClassTable) -> list[MemberTask]:
        """Draw the samples and features of each member."""
        rng = check_random_state(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        templates = [self._with_fixed_kernel(template, table) for template in self._templates()]
        pairs = zip(templates, self._templates(), strict=True)
        self._adaptive = any(fixed is not template for fixed, template in pairs)
        population = WeightedRows.from_hashes(table.hashes, table.sample_weight)
        r = subsample_size(self.subsample, population.n_copies, len(table.classes))
        for template in templates:
            population.check_supports_weights(template)
        tasks = []
        for t in range(self.n_estimators):
            template = templates[t % len(templates)]
            rows, weight = draw_rows(population, table.label, r, rng), None
            if supports_sample_weight(template):
                rows, weight = population.merge_copies(rows)
            features = draw_features(self.feature_subsets, t, table.X.shape[1], names, rng)
            if get_tags(template).input_tags.pairwise:
                features = table.input_index[rows]
            estimator = clone(template)
            set_random_states(estimator, rng)
            tasks.append(MemberTask(template, estimator, rows, features, weight))
        return tasks

    def _with_fixed_kernel(self, template: Any, table: ClassTable) -> Any:
        """Return the template with a kernel that does not depend on the subsample, if possible."""
        if not isinstance(template, KernelSVC):
            return template
        template._validate_params()
        if self.feature_subsets is not None:
            return template
        return template._with_fixed_gamma(table.X, table.sample_weight)

    def _fit_weights(self, table: ClassTable, weights: np.ndarray) -> None:
        """Store fixed weights, or learn the weights."""
        if self.combine == "mean":
            self.weights_, self.certificate_ = weights, None
            self.intercept_ = np.zeros(self._n_outputs())
            return
        inputs = np.concatenate(self._outputs(table.X), axis=1)
        svm = KernelSVC("linear", C=self.C)
        svm.fit(inputs, table.classes[table.label], table.sample_weight)
        coef = svm.expansion_.linear_coef.T
        self.weights_ = coef[0] if len(coef) == 1 else coef
        self.certificate_, self.intercept_ = svm.certificate_, svm.intercept_

    def _coef(self) -> np.ndarray:
        """Return the weight of every output of every member in every output of the vote."""
        if self.combine == "mean":
            return np.kron(self.weights_, np.eye(self._n_outputs()))
        return np.atleast_2d(self.weights_)

    def _merge_members(self, table: ClassTable) -> None:
        """Merge the members into shape models, or into one expansion per kernel, if possible."""
        if self.outputs == "votes":
            return
        on_all_features = all(features is None for features in self.estimators_features_)
        if on_all_features and all(hasattr(member, "shapes_") for member in self.estimators_):
            models = [
                model
                for member in self.estimators_
                for model in aligned_shapes(member, table.n_levels)
            ]
            columns = make_columns(
                table.X,
                max_bins=_DENSITY_BINS,
                n_levels=table.n_levels,
                sample_weight=table.sample_weight,
            )
            self.density_ = columns.density()
            votes = [combine(models, coef.tolist()) for coef in self._coef()]
            if votes[0].surfaces:
                surfaces = votes[0].surfaces
                self.surface_density_ = grid_weights(surfaces, table.X, table.sample_weight)
            self.shapes_ = unwrap_binary(
                [
                    replace(vote, intercept=vote.intercept + float(b))
                    for vote, b in zip(votes, self.intercept_, strict=True)
                ]
            )
        if sum(len(stack.machines) for stack in self._stacks) == self.n_estimators:
            self.expansions_ = [stack.vote(self._coef()) for stack in self._stacks]

    def _store_problems(self, table: ClassTable) -> None:
        """Store the kernel machines for bounds; those of large data are read when needed."""
        self._problems = None
        is_small = len(table.label) <= _FEW_SAMPLES and table.sample_weight is None
        if is_small and self.combine == "mean" and hasattr(self, "expansions_"):
            self._problems = self._read_problems(table.X, table.signs())

    def __getstate__(self) -> dict:
        """Drop the kernel machines, which are read again from the training data."""
        state = super().__getstate__()
        return state | {"_problems": None} if "_problems" in state else state

    def _has_log_odds(self) -> bool:
        """Return whether all scores, and hence their mean, are log-odds of one kind."""
        logistic, templates = (
            (StumpLogisticRegression, StumpLogisticRegressionCV),
            self._templates(),
        )
        if not all(isinstance(template, logistic) for template in templates):
            return False
        return len({template._effective_multi_class() for template in templates}) == 1

    def _has_probabilities(self) -> bool:
        """Return whether the vote is a mean of votes, probabilities or log-odds."""
        has_votes = self.outputs == "votes" or not any(
            hasattr(template, "decision_function") for template in self._templates()
        )
        return self.combine == "mean" and (has_votes or self._has_log_odds())

    predict_proba = available_if(_has_probabilities)(ProbabilityClassifier.predict_proba)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self._has_log_odds() and self.outputs == "scores":
            return self.estimators_[0]._probabilities(scores)
        return vote_fractions(scores)

    def _n_outputs(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _as_output(self, score: np.ndarray) -> np.ndarray:
        """Return scores as they enter the vote, of shape (n_samples, n_outputs)."""
        score = score.reshape(len(score), -1)
        if self.outputs == "scores":
            return score
        if score.shape[1] == 1:
            return np.where(score > 0, 1.0, -1.0)
        return (score.argmax(axis=1)[:, None] == np.arange(score.shape[1])).astype(np.float64)

    def _outputs(self, X: np.ndarray) -> list[np.ndarray]:
        """Return the output of each member for validated samples."""
        scores: dict[int, np.ndarray] = {}
        n_threads = count_threads(self.n_jobs)
        for stack in self._stacks:
            stacked = stack.expansion.evaluate(np.asarray(X, dtype=np.float64), n_threads)
            parts = np.split(stacked, len(stack.machines), axis=1)
            scores |= dict(zip(stack.machines, parts, strict=True))
        others = [t for t in range(self.n_estimators) if t not in scores]
        pairs = [(self.estimators_[t], self.estimators_features_[t]) for t in others]
        with one_blas_thread:
            other_scores = parallel_map(partial(_member_scores, X), pairs, self.n_jobs)
        scores |= dict(zip(others, other_scores, strict=True))
        return [self._as_output(scores[t]) for t in range(self.n_estimators)]

    def machine_scores(self, X: Any) -> np.ndarray:
        """Return the output of each estimator, as it enters the vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_estimators) or (n_samples, n_estimators * n_classes)
            One column per estimator; with more than two classes, one per estimator and class.
        """
        check_is_fitted(self, "weights_")
        return np.concatenate(self._outputs(check_rows(self, X)), axis=1)

    def _decision_function(self, X: np.ndarray) -> np.ndarray:
        if hasattr(self, "shapes_"):
            return self._evaluate(self.shapes_, X)
        if hasattr(self, "expansions_"):
            rows, n_threads = np.asarray(X, dtype=np.float64), count_threads(self.n_jobs)
            parts = [expansion.evaluate(rows, n_threads) for expansion in self.expansions_]
            scores = np.sum(parts, axis=0) + self.intercept_
        else:
            scores = np.concatenate(self._outputs(X), axis=1) @ self._coef().T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores


def _member_scores(X: np.ndarray, member: tuple[Any, np.ndarray | None]) -> np.ndarray:
    estimator, features = member
    return classifier_scores(estimator, member_samples(X, slice(None), features))
