"""What scikit-learn expects of an estimator."""

from __future__ import annotations


class Estimator:
    """The conventions of scikit-learn, for a trainer."""
