"""Support vector machines over all decision stumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from everystump._core.losses import LOSSES, LossFamily
from everystump._sklearn_compat import one_of
from everystump.estimators._stump_classifier import CPathClassifier, FixedCClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class StumpSVC(FixedCClassifier):
    """Support vector classifier over all decision stumps: an infinite ensemble of stumps.

    Minimizes ``|f|^2 / 2 + C sum_i loss(y_i f(x_i))`` over all ensembles ``f`` of the stumps in
    the support of `measure` (Lin & Li, 2005), and of their products if there are `interactions`.
    The fitted model is an additive model with one shape function (curve) per feature, a surface per
    interaction, and an optimality certificate.

    Scores are not log-odds, so there is no ``predict_proba``: for probabilities, wrap the estimator
    in `sklearn.calibration.CalibratedClassifierCV`, or use `StumpLogisticRegression`.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength, as in `sklearn.svm.SVC`.  ``inf`` requests a hard margin
        and raises an error if the training samples are not separable.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss function.
    measure : str, callable or Measure, default="mixed"
        Measure over the stumps, the prior weight of each: "mixed", "uniform", "rank", "lebesgue",
        "middle", a density over thresholds, or an instance of a class in
        `everystump.measures`.
    max_bins : int, default=256
        Maximum number of bins.  Features with more distinct values are binned; see ``exact_``.
        Ignored for the hard margin, which uses all values.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Categorical features, given by names, indices or a boolean mask.  "from_dtype" selects
        columns of text or of a categorical dtype; None treats all features as numeric.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    feature_range : (low, high) or array-like of shape (n_features, 2), default=None
        Range of the thresholds; the range of the training data by default.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        Monotonic constraints on the curves: 1 or "increasing", -1 or "decreasing", 0 for none.
        Given for all features, or as a dict from feature names.  They apply to the score of
        ``classes_[1]``, or with more than two classes to the score of every class.  Requires
        ``fit_intercept=True``.
    interactions : int, "auto" or list of tuples, default=0
        Interactions of features, as products of stumps: 0 for an additive model; a number for the
        pairs that would improve the additive model the most; "auto" for all pairs, or the best 300
        of more (with several classes, 600 divided by their number, but at least 20), without those
        that turn out to be negligible; or a list of pairs (or triples) of feature names or numbers.
        Features with monotonic constraints do not interact.
    interaction_strength : float, default=0.1
        Kernel weight of a pair relative to that of a single feature; a triple has its square.
        Larger values, of at most 1e13, allow stronger interactions.
    interaction_bins : int, default=32
        Maximum number of bins per feature in interactions, of which triples use at most 12.  The
        rarest levels of a category with more levels share a bin.  A hard margin is one of the
        samples binned in this way; see ``exact_``.
    max_interaction_order : {2, 3}, default=2
        If 3, interactions chosen by their number include triples of features, as many as pairs.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply C.
    tol : float, default=1e-3
        Tolerance on the relative duality gap.
    max_iter : int, default=1000
        Maximum number of Newton steps; a ``ConvergenceWarning`` is issued if they do not suffice.
    n_jobs : int, default=None
        Number of threads.  Unlike in most of scikit-learn, None means all cores, unless
        ``joblib.parallel_config`` sets another number.
    verbose : int, default=0
        If 1, progress is shown.

    Attributes
    ----------
    shapes_ : ShapeModel or list of ShapeModel
        Shape functions (curves and, for interactions, surfaces) and intercept; a list with one
        entry per class for more than two classes.
    feature_importances_ : ndarray of shape (n_features,)
        Relative importance of each feature; see `explain_global`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    certificate_ : Certificate or list of Certificate
        Optimality certificate: primal and dual objective, relative gap, and whether the gap is at
        most ``tol``.
    dual_coef_ : ndarray of shape (n_samples,) or (n_classes, n_samples)
        Signed dual variables of all samples.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    half_mass_ : float
        Half the total mass of the stumps, which is the kernel of any sample with itself if there
        are no interactions.
    interactions_ : list of tuple of int
        Features of each interaction.
    interaction_strength_ : float
        Strength of the interactions, 0 if there are none.
    surface_density_ : tuple of ndarray
        Total sample weight of the training samples at each grid point of each surface.
    n_iter_ : int
        Number of Newton steps.
    exact_ : bool
        True if no feature was binned, so that the optimum is that of the raw data.
    feature_info_ : tuple of Feature
        Name of each feature, and the levels of categorical features.
    density_ : tuple of RowDensity
        Distribution of the training samples in each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the training data had names.

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
        **FixedCClassifier._parameter_constraints,
        "loss": [one_of("hinge", "squared_hinge")],
    }

    loss: str = "hinge"

    def _loss_family(self) -> LossFamily:
        # The hard margin is the same problem for both losses.
        return LOSSES["hinge" if np.isinf(self.C) else self.loss]


@dataclass(eq=False, repr=False, kw_only=True)
class StumpSVCCV(CPathClassifier):
    """`StumpSVC` with C, measure, weights and interactions chosen by cross-validation.

    All folds and values of C share one binning, each fit starts from the solution of another C,
    folds are solved to a tolerance of a few times ``tol``, and the path stops after its best value,
    so that the path of C takes about as long as 10 fits.  With ``measure="auto"``, two measures are
    then compared.  Unless ``feature_weights="equal"``, another path of C with other weights
    follows; unless ``interactions=0``, interactions are then tried on a path of their strength and
    one of their number.

    Parameters
    ----------
    Cs : int or array-like, default=11
        Values of C.  An integer is the number of values on a logarithmic scale from 2^-9 to 2^6;
        they are tried in ascending order, the largest are skipped once the last two scores are
        significantly below the best (by more than two standard errors of the difference), and more
        values are added while the best one is at an end.  All values of an array are tried.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss function.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds of ``StratifiedKFold(cv, shuffle=True, random_state=random_state)``, or a
        splitter, or an iterable of (train, test).  If a class has fewer samples than there are
        folds, fewer folds are used (at least 3, or 2 if no class has more samples), with a warning;
        the only sample of a class is never held out.
    scoring : str or callable, default=None
        A scikit-learn scorer; accuracy by default.
    selection : {"cv", "cv-1se", "loo-bound"}, default="cv"
        "cv" selects the best mean score, "cv-1se" the smallest C, and the smallest strength of
        interactions, within one standard error of it (over 30,000 samples, if `cv` is a number, the
        strength is chosen on a single split, which has no standard error, so that the best one is
        selected, and weights do not change C),
        and "loo-bound" the smallest bound on the leave-one-out error, which needs no folds
        (`everystump.bounds.loo_bound`) but does not support ``monotonic_cst``.
    feature_weights : {"auto", "adaptive", "equal"}, default="auto"
        Weights of the features in `measure`.  "adaptive" regularizes features with large curves
        less: after C, weights are chosen in proportion to the standard deviations of the curves
        over the training samples, at least 0.3 times their mean, and then C once more.  "auto" uses
        these weights if they improve the score by more than one standard error over the folds,
        and by more than 1e-4 of the distance from the best possible score.  With over 30,000
        samples, if `cv` is a number, a single split decides this, at the same C.  With
        ``selection="loo-bound"``, "auto" is the same as "equal".
    interaction_strength : float, array-like or None, default=None
        Strength of the interactions; see `StumpSVC`.  If a number, C is chosen once more with
        interactions of that strength.  If None, it is chosen after C by cross-validation along a
        path; if an array, among its values.  With over 30,000 samples, if `cv` is a number, a
        single split replaces the folds.  In both cases the additive model is kept unless
        interactions, or the best number of them, improve its score by more than one standard error
        over the folds, and by more than 1e-4 of the distance from the best possible score.
    interactions : int, "auto" or list of tuples, default="auto"
        Interactions of features; see `StumpSVC`.  "auto" also chooses how many to keep, if `Cs` is
        an integer, `interaction_strength` is None, `selection` is "cv" and their strength is chosen
        on several folds.  With ``selection="loo-bound"``, "auto" includes none.
    interaction_bins, max_interaction_order
        As in `StumpSVC`.
    measure : str, callable or Measure, default="auto"
        As in `StumpSVC`, or "auto", which chooses "mixed" or "uniform".  C is first chosen with
        "mixed".  If "uniform" at the same C improves the score by more than half a standard error
        over the folds, and by more than 0.25% of the distance from the best possible score, it
        replaces "mixed", and C is chosen once more.  If the strength of interactions is chosen, and
        some are kept, the other measure is then compared in the same way with the same
        interactions, weights, C and strength; with over 30,000 samples, if `cv` is a number, on a
        single split, which has no standard error.  With other values of `selection` than "cv",
        "auto" is the same as "mixed".
    max_bins, categorical_features, fit_intercept, feature_range, monotonic_cst
        As in `StumpSVC`.
    class_weight, tol, max_iter, n_jobs, verbose
        As in `StumpSVC`.
    random_state : int, RandomState instance or None, default=0
        Controls the shuffling of the folds.  With None, every fit shuffles differently.

    Attributes
    ----------
    C_ : float
        Selected C.
    best_score_ : float
        Mean held-out score of the selected parameters, over the folds that chose them.
    scoring_ : str
        Name of the scorer, "score" for a callable, or "1 - leave-one-out bound".
    cv_results_ : dict of ndarrays
        Results of the path in the format of `GridSearchCV`, with the largest duality gap of each C,
        the number of folds (``n_splits``) and the selected value (``chosen``), which is ``C_``
        unless C was refined with interactions.
    measure_ : str, callable or Measure
        The chosen measure, or the given one.
    measure_cv_results_, interaction_measure_cv_results_ : dict of ndarrays
        Results of both measures (``param_measure``) with the same parameters, without and with
        interactions, if they were compared; ``chosen`` is the selected one.  Results of other
        parameters are those of the measure that was selected by then.
    weights_cv_results_ : dict of ndarrays
        Results of the path of C with adaptive weights, if they were tried; ``cv_results_`` is the
        same if they were chosen.  ``equal_test_scores`` has the scores of equal weights on the same
        folds, with which they were compared.
    feature_weights_ : ndarray of shape (n_features,)
        Weights of the features.  The model is that of `StumpSVC` with ``C_`` and the measure
        ``everystump.measures.Weighted(measure_, feature_weights_)``.
    interaction_cv_results_ : dict of ndarrays
        Results of the path of `interaction_strength` in the format of `GridSearchCV`, if there was
        one; a strength of 0 stands for the model without interactions.
    number_cv_results_ : dict of ndarrays
        Results of the path of the number of interactions (``param_n_interactions``) and of their
        strength (``param_interaction_strength``), if there was one and interactions are kept;
        ``chosen`` is the number, from which negligible ones of the final model are dropped.
    refined_cv_results_ : dict of ndarrays
        Results of the last path of C, with interactions, if there was one.  Their strength
        (``param_interaction_strength``) is the given one, or its product with C is constant;
        ``C_`` and ``interaction_strength_`` are the best of them.
    interactions_, interaction_strength_, surface_density_
        As in `StumpSVC`.
    shapes_, intercept_, certificate_, dual_coef_, classes_, n_iter_, exact_
        Results of the fit on all samples with ``C_``, as in `StumpSVC`.

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
        **CPathClassifier._parameter_constraints,
        "loss": [one_of("hinge", "squared_hinge")],
    }

    loss: str = "hinge"

    def _loss_family(self) -> LossFamily:
        return LOSSES[self.loss]
