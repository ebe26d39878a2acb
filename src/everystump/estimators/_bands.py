"""Standard errors of the curves and surfaces of infinite ensembles of stumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everystump._core.design import Design
from everystump._core.measures import Measure
from everystump._core.shapes import ShapeModel
from everystump._core.solvers.posterior import InaccurateSampleError
from everystump._core.standard_errors import FittedRows, Moments, laplace_errors
from everystump._core.threads import count_threads, one_blas_thread
from everystump._explanations.access import shape_models
from everystump._tables.training_table import TrainingTable

_N_REFITS = 50


class BandsMixin:
    """Standard errors of curves and surfaces, which need the training data once more."""

    if TYPE_CHECKING:  # the other base classes define these
        half_mass_: float
        _chosen_measure: Any
        interaction_bins: int
        interaction_strength_: float
        interactions_: list
        n_jobs: int | None
        _loss_family: Callable[..., Any]
        _prepare: Callable[..., tuple[TrainingTable, Design]]
        _fitted_measure: Callable[[], Measure]
        _solve: Callable[..., list]
        _fitted_attribute: str
        _training_record: Any
        edits_: tuple[str, ...]

    def _fitted_cost(self) -> float:
        """Return the C of the fitted model."""
        raise NotImplementedError

    def _problem_scores(self, table: Any) -> list[np.ndarray]:
        """Return the scores of the training samples in each problem, in the solver's units."""
        raise NotImplementedError

    def _as_fitted(self, y: Any) -> Any:
        """Return labels or targets as those that the model was fitted to."""
        return y

    def _score_factor(self, table: Any) -> float:
        """Return the factor of the solver's scores in those of the model."""
        return 1.0

    def compute_bands(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        method: str = "laplace",
        n_samples: int | None = None,
        random_state: int = 0,
    ) -> Self:
        """Compute standard errors of all curves and surfaces.

        They are computed on request, because they need the training data and take one to two times
        as long as a fit, and longer if features are strongly correlated or interact.
        `curve`, `surface` and `explain_global` then accept ``bands=True``, and the displays of
        `everystump.explain` and the report page show them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data of this model.
        y : array-like of shape (n_samples,)
            Training labels or targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the training samples.
        method : {"laplace", "bootstrap"}, default="laplace"
            "laplace" uses the curvature of the objective at the optimum: the posterior standard
            deviation of each curve, which includes the effect of the regularization.  It needs a
            loss with curvature: "logistic", "squared_hinge", "squared", "huber", "poisson" or
            "gamma".  "bootstrap" is the standard deviation over refits with random sample weights,
            for any loss; it does not include the bias of the regularization.
        n_samples : int, default=None
            Number of samples of the posterior, or of refits.  By default none if the model has
            few bins, for which standard errors are exact; else as many as give standard errors a
            relative error of about 3%, from 4 to 200; 100 (an error of 7%) if there are
            interactions or no intercept; and 50 refits (an error of 10%).
        random_state : int, default=0
            Seed of the samples.

        Returns
        -------
        self
            With ``standard_errors_``: a `ShapeModel`, or a list of one per class, with the standard
            error at each knot of the curves, at each grid point of the surfaces, and of the
            intercept.

        Examples
        --------
        >>> import numpy as np
        >>> from everystump import StumpRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, size=(500, 1))
        >>> y = X[:, 0] ** 2 + rng.normal(scale=0.1, size=500)
        >>> model = StumpRegressor().fit(X, y).compute_bands(X, y)
        >>> curve = model.curve("x0", bands=True)
        >>> curve.columns.tolist()
        ['value', 'contribution', 'std_error', 'low', 'high']
        >>> truth = curve["value"] ** 2 - np.mean(X**2)
        >>> bool(truth.between(curve["low"], curve["high"]).mean() > 0.9)
        True
        """
        check_is_fitted(self, self._fitted_attribute)
        self._check_bands(method, n_samples)
        rng = np.random.default_rng(random_state)
        with one_blas_thread:
            table, design = self._training_design(X, y, sample_weight)
            compute = self._laplace_bands if method == "laplace" else self._bootstrap_bands
            try:
                errors = compute(table, design, n_samples, rng)
            except InaccurateSampleError as error:
                raise ValueError(
                    f"C={self._fitted_cost():g}: the curvature is too ill-conditioned for "
                    f'method="laplace"; fit the model with a smaller C, or use method="bootstrap".'
                ) from error
        self.standard_errors_ = errors if len(errors) > 1 else errors[0]
        return self

    def _check_bands(self, method: Any, n_samples: Any) -> None:
        name = type(self).__name__
        if method not in ("laplace", "bootstrap"):
            raise ValueError(f'method={method!r} must be "laplace" or "bootstrap".')
        is_int = isinstance(n_samples, Integral) and not isinstance(n_samples, bool)
        if n_samples is not None and not (is_int and n_samples >= 2):
            raise ValueError(f"n_samples={n_samples!r} must be an integer of at least 2, or None.")
        if self.edits_:
            raise ValueError(
                f"{name} was edited ({self.edits_[-1]}), and bands are for a solution of the "
                f"training problem; use the model before its edits."
            )
        if np.isinf(self._fitted_cost()):
            raise ValueError(
                "C=inf: a hard margin has no standard errors; fit the model with a finite C."
            )
        if method == "laplace" and not self._loss_family().has_curvature:
            raise ValueError(
                f"{name} has a piecewise linear loss, without the curvature that "
                f'method="laplace" needs; use method="bootstrap".'
            )

    def _training_design(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingTable, Design]:
        """Return the table and the design that the model was fitted to."""
        table, design = clone(self)._prepare(X, self._as_fitted(y), sample_weight)
        record, own = self._training_record, table.training_record()
        if record is not None and (own.table_checksum, own.weights_checksum) != (
            record.table_checksum,
            record.weights_checksum,
        ):
            raise ValueError(
                "X, y, sample_weight: these are not the training samples of the model; pass those, "
                "in the same order and with the same weights."
            )
        design = design.with_measure(self._fitted_measure())
        if not np.isclose(design.half_mass, self.half_mass_, rtol=1e-6, atol=0.0):
            raise ValueError(
                f"The model was fitted with other masses of stumps than those of "
                f"measure={self._chosen_measure!r}, by another measure or an earlier version of "
                f"everystump; fit it again."
            )
        if not self.interactions_:
            return table, design
        return table, design.with_interactions(
            [tuple(term) for term in self.interactions_],
            max_cells=self.interaction_bins,
            strength=self.interaction_strength_,
            n_threads=count_threads(self.n_jobs),
        )

    def _laplace_bands(
        self, table: TrainingTable, design: Design, n_samples: int | None, rng: np.random.Generator
    ) -> list[ShapeModel]:
        loss, C = self._loss_family(), self._fitted_cost()
        errors = []
        for model, target, scores in zip(
            shape_models(self), table.problems(), self._problem_scores(table), strict=True
        ):
            rows = FittedRows(loss, target, table.weight, table.sample_weight, scores, C)
            found = laplace_errors(
                design,
                rows,
                model,
                n_samples=n_samples,
                rng=rng,
                n_threads=count_threads(self.n_jobs),
                factor=self._score_factor(table),
            )
            errors.append(found)
        return errors

    def _bootstrap_bands(
        self, table: TrainingTable, design: Design, n_samples: int | None, rng: np.random.Generator
    ) -> list[ShapeModel]:
        C = self._fitted_cost()
        starts = self._solve(table, design, C, verbose=0)
        moments = [Moments(model) for model in shape_models(self)]
        weight = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
        for _ in range(n_samples or _N_REFITS):
            random_weight = rng.exponential(size=table.n_rows)
            refit = replace(table, sample_weight=weight * random_weight / random_weight.mean())
            solutions = self._solve(refit, design, C, starts=starts, verbose=0)
            for own, solution in zip(moments, solutions, strict=True):
                own.add(design.shape_model(solution))
        return [own.standard_deviations(self._score_factor(table)) for own in moments]
