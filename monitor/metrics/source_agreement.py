"""Agreement of those who label the same cases, beyond chance: Krippendorff's alpha.

For two of them, share of agreement and Cohen's kappa are those of a prediction with its label:
`monitor.metrics.class_matrix`.
"""

from __future__ import annotations

from monitor.metrics.ratio import FloatArray, ratio


def krippendorff_alpha(labels: FloatArray, cases: FloatArray) -> float:
    """Krippendorff's alpha for nominal labels: 1 less observed over expected disagreement.

    With n_c labels of class c among all labels of cases with two or more, n their sum, and o_cc
    the pairs of labels of one case that agree, each divided by the labels of the case less 1:
    alpha = 1 - (n - 1) (n - Σ o_cc) / (n² - Σ n_c²). Cases may have any number of labels; those
    with one, or none, do not count.

    Args:
        labels: (rows, classes), labels of each class that a case of the row has.
        cases: (rows,), cases of each row.

    Returns:
        At most 1, which is perfect agreement; 0 is that of chance; NaN where all labels are of
        one class, or no case has two.

    Source:
        Krippendorff 2011, "Computing Krippendorff's alpha-reliability", part C.

    >>> import numpy as np
    >>> labels = np.array([[2, 0], [1, 1], [0, 2]])  # by two reviewers
    >>> round(krippendorff_alpha(labels, np.array([5, 4, 1])), 3)
    0.095
    """
    each = labels.sum(axis=1)
    shared = each > 1
    labels, each, cases = labels[shared], each[shared], cases[shared]
    of_class = (labels * cases[:, None]).sum(axis=0)
    every = of_class.sum()
    agreeing = ((labels * (labels - 1)).sum(axis=1) / (each - 1) * cases).sum()
    expected = every**2 - (of_class**2).sum()
    return float(1 - ratio((every - 1) * (every - agreeing), expected))
