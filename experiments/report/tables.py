"""Markdown tables, and numbers as the tables show them."""

import math
import re

import pandas as pd

SETS = ["WS353", "MEN", "SimLex-999", "MSR", "Google"]
SETTINGS = {"small": "our defaults", "paper": "the paper's settings"}


def table(head, rows):
    """A Markdown table: the first column is aligned left, the others right."""
    rule = "|".join(["---"] + ["--:"] * (len(head) - 1))
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in [head, *rows]]
    text = "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"
    return re.sub(r"(?<!\w)-(?=\d)", "−", text)


def paper_measure(rows):
    """The scores by the paper's measures: Spearman's correlation, and 3CosMul for analogies."""
    return rows[rows.measure != "3CosAdd"]


def count(number):
    return f"{number:,.0f}"


def spread(values, decimals=1):
    """`mean ± standard deviation`; the value alone if there is only one."""
    values = pd.Series(values).dropna()
    if values.empty:
        return "–"
    mean = f"{values.mean():.{decimals}f}"
    return mean if len(values) == 1 else f"{mean} ± {values.std():.{decimals}f}"


def power(n):
    exponent = round(math.log10(n))
    return f"10{_superscript(exponent)}" if 10**exponent == n else count(n)


def estimate(value, error):
    """`(3.663 ± 0.071)·10⁻²`, with two digits of the error but at most four decimals."""
    exponent = math.floor(math.log10(max(abs(value), error)))
    scale = 10.0**exponent
    decimals = min(int(min(max(exponent - math.floor(math.log10(error)), 1), 4)) + 1, 4)
    text = f"({value / scale:.{decimals}f} ± {error / scale:.{decimals}f})·10{_superscript(exponent)}"
    return text.replace("-", "−")


def scientific(value):
    exponent = math.floor(math.log10(abs(value)))
    return f"{value / 10.0**exponent:.3f}·10{_superscript(exponent)}"


def ratio(value, error):
    """`1.029 ± 0.020`, with two digits of the error."""
    decimals = int(min(max(1 - math.floor(math.log10(error)), 0), 4))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def or_dash(form, *values):
    """The formatted values, or a dash if one is missing."""
    return "–" if any(pd.isna(value) for value in values) else form(*values)


def _superscript(number):
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
