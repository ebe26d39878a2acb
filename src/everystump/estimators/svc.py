"""Support vector machine over all decision stumps."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from everystump._core.losses import LOSSES, Loss
from everystump._sklearn_compat import one_of
from everystump.estimators._base import FixedCEnsemble
from everystump.estimators._path import CPathEnsemble


class StumpSVC(FixedCEnsemble):
    """Infinite ensemble of decision stumps: an SVM that gives every stump its exact weight.

    Solves ``min |f|^2 / 2 + C sum of loss(y f(x))`` over all ensembles ``f`` of the stumps that
    `measure` lets vote (Lin & Li, 2005), and proves how near to the optimum it came.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of loss costs; more fits the training rows more closely.  ``inf`` asks for the
        hard margin: every row on its right side, or an error if that cannot be.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of a margin.
    measure : str, callable or Measure, default="mixed"
        Which stumps vote: "mixed", "uniform", "rank", "lebesgue", "middle", a density over
        thresholds, or a record of `everystump._core.measures`.
    max_bins : int, default=256
        Features with more distinct values are cut into this many bins; see ``exact_``.  The hard
        margin keeps every value.
    categorical_features : "from_dtype", list, mask or None, default="from_dtype"
        Which features are categories, each level of which against the rest is a stump: columns of
        text or of a categorical dtype, or those named by name, by number or by a mask of True and
        False; None has none.
    fit_intercept : bool, default=True
        Whether to add a free constant.
    feature_range : (low, high) or array-like of shape (n_features, 2), optional
        The range [L, R] of thresholds; that of the data by default.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        Curves that may only rise (1 or "increasing") or only fall (-1 or "decreasing"), 0 being
        free: one entry for each feature, or a dict of some features' names.  The curve is that of
        the score of ``classes_[1]``; for several classes every class's curve is so constrained.
        Needs ``fit_intercept=True``.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=1000
        Newton steps at most; if they do not suffice, a ``ConvergenceWarning`` says so.
    n_jobs : int, optional
        Threads over the rows.  None is all cores, unlike in most of scikit-learn, or what
        ``joblib.parallel_config`` says.
    verbose : int, default=0
        1 shows live progress.

    Attributes
    ----------
    shapes_ : ShapeModel, or a list of them for several classes
        The curve of each feature and the intercept.
    feature_importances_ : ndarray of shape (n_features,)
        How much each feature moves the score, in shares that sum to 1; see `explain_global`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts by themselves.
    certificate_ : Certificate, or a list of them for several classes
        Primal and dual value, relative gap, and whether it is at most ``tol``.
    dual_coef_ : ndarray of shape (n_rows,) or (n_classes, n_rows)
        Signed dual variables, zeros kept.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    half_mass_ : float
        Half the mass of all stumps: the kernel of any row with itself.
    n_iter_ : int
        Newton steps taken.
    exact_ : bool
        Whether no feature was binned, so that the optimum is that of the raw data.
    feature_info_ : tuple of Feature
        What each feature is: its name, and for a category its levels.
    density_ : tuple of RowDensity
        Where the training rows lie in each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table had any.

    Examples
    --------
    >>> from everystump import StumpSVC
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = StumpSVC(C=0.1).fit(X, y)
    >>> bool(model.certificate_.gap <= 1e-3), model.score(X, y) > 0.95
    (True, True)
    """

    _parameter_constraints: ClassVar[dict] = {
        **FixedCEnsemble._parameter_constraints,
        "loss": [one_of("hinge", "squared_hinge")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "hinge",
        measure: Any = "mixed",
        max_bins: int = 256,
        categorical_features: Any = "from_dtype",
        fit_intercept: bool = True,
        feature_range: Any = None,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            measure=measure,
            max_bins=max_bins,
            categorical_features=categorical_features,
            fit_intercept=fit_intercept,
            feature_range=feature_range,
            monotonic_cst=monotonic_cst,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.loss = loss

    def _loss_class(self) -> type[Loss]:
        # Both losses are the same problem once no row may be short of the margin.
        return LOSSES["hinge" if np.isinf(self.C) else self.loss]


class StumpSVCCV(CPathEnsemble):
    """`StumpSVC` with C chosen by cross-validation along a path.

    All folds and all values of C share one set of columns, each fit starts from its neighbor's
    solution, folds are solved to a few times ``tol``, and the path ends once it is past its best,
    so the whole path costs some 10 fits.

    Parameters
    ----------
    Cs : int or array-like, default=11
        How many values, from 2^-9 to 2^6 evenly in the logarithm.  They are tried in ascending
        order; the largest are left out once the scores have fallen clearly below the best (by more
        than two standard errors of the difference, at the last two values), and further values are
        added while the best lies at an edge.  Or the values themselves, all of which are tried.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of a margin.
    cv : int, splitter or iterable, default=5
        A number of folds, which are stratified and shuffled, as those of
        ``StratifiedKFold(cv, shuffle=True, random_state=random_state)``; or a splitter or an
        iterable of (train, test), which are used as they are.  If a class has fewer samples than
        there are folds, fewer folds are used, at least 3; a class of one sample is in the training
        part of every fold.  A warning says so.
    scoring : str or callable, optional
        Any scikit-learn scorer; accuracy by default.
    selection : {"cv", "cv-1se", "loo-bound"}, default="cv"
        Take the best mean score, or the smallest C within one standard error of it, or the least
        bound on the leave-one-out error, which needs no folds (`everystump.bounds.loo_bound`) but
        knows no ``monotonic_cst``.
    measure, max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling of the folds.  The default makes fits repeatable, None draws new
        folds in every fit.

    Attributes
    ----------
    C_ : float
        The chosen C.
    best_score_ : float
        Its mean score over the folds.
    scoring_ : str
        What the scores are: the name of the scorer, "score" for a callable, or "1 - leave-one-out
        bound".
    cv_results_ : dict of arrays
        The path, in the form of GridSearchCV's, with the worst duality gap of each C.
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_
        Of the fit on all rows with ``C_``, as in `StumpSVC`.

    Examples
    --------
    >>> from everystump import StumpSVCCV
    >>> from everystump.datasets import make_twonorm
    >>> X, y = make_twonorm(200, random_state=0)
    >>> model = StumpSVCCV(Cs=[0.01, 0.1, 1.0]).fit(X, y)
    >>> model.C_ in {0.01, 0.1, 1.0}
    True
    """

    _fixed_C_class = StumpSVC

    _parameter_constraints: ClassVar[dict] = {
        **CPathEnsemble._parameter_constraints,
        "loss": [one_of("hinge", "squared_hinge")],
    }

    def __init__(
        self,
        Cs: Any = 11,
        *,
        loss: str = "hinge",
        cv: Any = 5,
        scoring: Any = None,
        selection: str = "cv",
        measure: Any = "mixed",
        max_bins: int = 256,
        categorical_features: Any = "from_dtype",
        fit_intercept: bool = True,
        feature_range: Any = None,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            Cs,
            cv=cv,
            scoring=scoring,
            selection=selection,
            measure=measure,
            max_bins=max_bins,
            categorical_features=categorical_features,
            fit_intercept=fit_intercept,
            feature_range=feature_range,
            monotonic_cst=monotonic_cst,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.loss = loss

    def _loss_class(self) -> type[Loss]:
        return LOSSES[self.loss]
