"""Methods that explain a model of shape functions, as pandas frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from everystump._core.columns import RowDensity
from everystump._core.threads import count_threads
from everystump._explanations.access import class_labels, shape_models
from everystump._explanations.bands import check_bands
from everystump._explanations.importance import relative_importances, term_densities
from everystump._explanations.tables import (
    curve_table,
    global_table,
    local_table,
    stump_table,
    surface_table,
)
from everystump._explanations.terms import interaction_features, single_feature
from everystump._tables.frames import Feature, is_frame
from everystump._tables.validation import check_rows


class ExplanationMixin:
    """Explanations of a model with ``shapes_``."""

    feature_info_: tuple[Feature, ...]
    density_: tuple[RowDensity, ...]
    n_jobs: int | None

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each feature, scaled to sum to 1.

        This is the ``importance`` of `explain_global` on the training samples, summed over the
        classes and divided by its total; all are 0 if no feature changes the score.  The importance
        of an interaction is divided equally among its features.
        """
        try:
            models = shape_models(self)
            return relative_importances(models, term_densities(self, models))
        except NotFittedError:
            raise
        except ValueError as error:
            raise AttributeError(f"no feature_importances_: {error}") from None

    def explain_global(self, X: Any = None, *, bands: bool | float = False) -> Any:
        """Return how much each feature and each interaction contributes to the score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            Samples to measure importance on; the weighted training samples by default.
        bands : bool or float, default=False
            Whether to add columns for the standard errors of `compute_bands`: ``std_error``, the
            root mean square over the samples, to be compared with ``importance``, and ``low`` and
            ``high``, the extremes of the 95% band, or of that of another level such as 0.9.

        Returns
        -------
        pandas.DataFrame
            One row per feature and per interaction, such as ``age × income``, most important first;
            with more than two classes, one for each class.  ``importance`` is the standard
            deviation of its contribution to the score, ``lowest`` and ``highest`` are the extremes
            of its curve or surface, ``kind`` is "number", "category" or "interaction", and
            ``share_missing`` is the fraction of samples with a missing value.

        Notes
        -----
        The training samples of features with more than 256 distinct values are summarized in 256
        bins, and those of interactions at the grid points of their surfaces.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> model = StumpSVC().fit([[0, 7], [1, 7], [2, 7], [3, 7]], [0, 0, 1, 1])
        >>> model.explain_global()[["feature", "kind", "importance"]].round(2)
          feature    kind  importance
        0      x0  number         0.9
        1      x1  number         0.0
        """
        models = shape_models(self)
        densities = term_densities(self, models, X)
        band = check_bands(self, bands)
        return global_table(models, self.feature_info_, class_labels(self), densities, band)

    def explain_local(self, X: Any) -> Any:
        """Return the contribution of each feature and interaction to the score of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; the index of a pandas frame is kept.

        Returns
        -------
        pandas.DataFrame
            One row per sample.  The columns are ``intercept``, the features, the interactions, and
            ``score``, the sum of the others, which equals `decision_function`.  With more than two
            classes, the columns have two levels: class and feature.

        Examples
        --------
        >>> from everystump import StumpSVC
        >>> X = [[0, 7], [1, 7], [2, 7], [3, 7]]
        >>> model = StumpSVC().fit(X, [0, 0, 1, 1])
        >>> frame = model.explain_local(X)
        >>> frame.columns.tolist()
        ['intercept', 'x0', 'x1', 'score']
        >>> bool(abs(frame["score"] - model.decision_function(X)).max() < 1e-12)
        True
        """
        models = shape_models(self)
        return local_table(
            models,
            self.feature_info_,
            class_labels(self),
            check_rows(self, X),
            index=X.index if is_frame(X) and hasattr(X, "iloc") else None,
            n_threads=count_threads(self.n_jobs),
        )

    def explain_ensemble(self) -> Any:
        """Return the stumps of the ensemble with their weights.

        Returns
        -------
        pandas.DataFrame
            One row per stump, largest weight first.  The answer to ``question`` is between -1 (no)
            and 1 (yes), and increases linearly from ``low`` to ``high`` where these differ.  For a
            missing value, the answer to a question about a threshold is 0, and to one about a level
            it is no; the contribution of missing values has its own row if the training data had
            any.  The score is the sum of ``weight * direction * answer``; the answer to ``always``
            is yes for every sample.  A model with interactions has no such table, because they are
            votes of products of stumps.

        Examples
        --------
        >>> from everystump import DecisionStumpClassifier
        >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
        >>> stump.explain_ensemble()[["feature", "question", "direction", "weight"]]
          feature   question  direction  weight
        0      x0  x0 >= 2.5          1     1.0
        """
        return stump_table(shape_models(self), self.feature_info_, class_labels(self))

    def curve(self, feature: str | int, *, bands: bool | float = False) -> Any:
        """Return the shape function (curve) of a feature.

        Parameters
        ----------
        feature : str or int
            Name or index of the feature.
        bands : bool or float, default=False
            Whether to add the columns ``std_error``, ``low`` and ``high``, a pointwise 95% band, or
            one of another level such as 0.9; it requires `compute_bands`.

        Returns
        -------
        pandas.DataFrame
            Columns ``value`` and ``contribution``, with one row per level of a category or per knot
            of a numeric feature: the curve is linear between knots and constant beyond them.  A
            knot that occurs twice is a jump, where the second row applies.  The last row, with a
            missing ``value``, is the contribution of missing values if the training data had any.
            With more than two classes, there is a column ``class``.

        Examples
        --------
        >>> from everystump import DecisionStumpClassifier
        >>> stump = DecisionStumpClassifier().fit([[0], [1], [4], [5]], [0, 0, 1, 1])
        >>> stump.curve("x0")
           value  contribution
        0    2.5          -1.0
        1    2.5           1.0
        """
        models = shape_models(self)
        d = single_feature(self.feature_info_, feature)
        band = check_bands(self, bands)
        return curve_table(models, self.feature_info_, class_labels(self), d, band)

    def surface(self, feature: str | tuple, *, bands: bool | float = False) -> Any:
        """Return the surface of an interaction.

        Parameters
        ----------
        feature : str or tuple of str or int
            The interaction: its name, such as ``"age × income"``, or its features.
        bands : bool or float, default=False
            As in `curve`.

        Returns
        -------
        pandas.DataFrame
            One row per grid point: a column for each feature, with its knots or levels, and
            ``contribution``.  The surface is linear between knots along each numeric feature and
            constant beyond them.  A knot that occurs twice is a jump, where the second one applies.
            A missing value has its own grid points if the training data had any.  With more than
            two classes, there is a column ``class``.

        Examples
        --------
        >>> from dataclasses import replace
        >>> import numpy as np
        >>> from everystump import StumpSVC
        >>> from everystump.shapes import Axis, Surface
        >>> model = StumpSVC().fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
        >>> axis = Axis(np.array([0.0, 1.0]))
        >>> product = Surface((0, 1), (axis, axis), np.array([[-1.0, 1.0], [1.0, -1.0]]))
        >>> model.shapes_ = replace(model.shapes_, surfaces=(product,))
        >>> model.surface("x0 × x1")
            x0   x1  contribution
        0  0.0  0.0          -1.0
        1  0.0  1.0           1.0
        2  1.0  0.0           1.0
        3  1.0  1.0          -1.0
        """
        models = shape_models(self)
        term = interaction_features(self.feature_info_, models[0].terms, feature)
        band = check_bands(self, bands)
        return surface_table(models, self.feature_info_, class_labels(self), term, band)
