"""The look of the figures. The same rows always give the same bytes."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.container import ErrorbarContainer
from matplotlib.ticker import LogLocator

COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3c3c3c"]
FRAME = "#6e6e6e"

plt.rcParams.update({
    "axes.edgecolor": FRAME,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "figure.figsize": (7.2, 4.3),
    "font.family": "sans-serif",
    "font.size": 8.5,
    "grid.color": "#e2e2e2",
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "skipstream",
    "xtick.color": FRAME,
    "xtick.labelcolor": "black",
    "ytick.color": FRAME,
    "ytick.labelcolor": "black",
})


def color(number):
    return COLORS[number % len(COLORS)]


def chart(path, title, x, y, series, log_x=False, log_y=False):
    """Draws `(label, style, xs, ys, errors)`: a style is matplotlib's, such as `"o-"`, and errors may be `None`."""
    figure, axes = plt.subplots()
    # Set the scales first: with a logarithmic axis, an error bar that reaches zero is clipped.
    if log_x:
        axes.set_xscale("log")
    if log_y:
        axes.set_yscale("log", nonpositive="mask")
    for number, (label, style, xs, ys, errors) in enumerate(series):
        hidden = sum(value <= 0 for value in ys) if log_y else 0
        if hidden:
            label += f" ({hidden} not shown: ≤ 0)"
        if log_y and errors is not None:
            lower = [min(error, value / 2) if value > 0 else 0 for value, error in zip(ys, errors)]
            errors = [lower, list(errors)]
        # A circle without a line is a ring, so that a cross in the same spot can be seen.
        ring = {"markerfacecolor": "none", "markersize": 9} if style == "o" else {}
        axes.errorbar(xs, ys, yerr=errors, fmt=style, color=color(number), capsize=3, label=label, **ring)
    low, high = axes.get_ylim()
    if log_y and high / low < 200:
        axes.yaxis.set_major_locator(LogLocator(subs=[1, 2, 5]))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.minorticks_off()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _save(figure, axes, path, title, -0.13)


def bars(path, title, y, groups, series):
    """Draws `(label, means, deviations)`, one bar of each series in each group."""
    figure, axes = plt.subplots()
    width = 0.86 / len(series)
    for number, (label, means, deviations) in enumerate(series):
        left = [group + (number - (len(series) - 1) / 2) * width for group in range(len(groups))]
        # Series beyond the number of colors are pale with a border.
        fill = (color(number), 0.25) if number >= len(COLORS) else color(number)
        axes.bar(left, means, 0.92 * width, yerr=deviations, facecolor=fill, edgecolor=color(number), linewidth=1,
                 capsize=2, label=label, error_kw={"elinewidth": 1})
    axes.axhline(0, color=FRAME, linewidth=1)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(False, axis="x")
    axes.set_ylabel(y)
    _save(figure, axes, path, title, -0.07)


def _save(figure, axes, path, title, legend_top):
    axes.set_title(title)
    handles, labels = axes.get_legend_handles_labels()
    # The legend shows marks and lines without error bars.
    handles = [handle[0] if isinstance(handle, ErrorbarContainer) else handle for handle in handles]
    columns = 2 if max(map(len, labels)) > 28 else 3
    axes.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, legend_top), ncols=columns)
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
