"""``everystump edit``: change curves by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everystump._text import InvalidInputError, format_number, pluralize
from everystump._workflow.options import Dialect
from everystump.cli.common import (
    MODEL,
    OPTIONAL_DATA,
    check_out,
    file_options,
    load_curves,
    out_option,
)
from everystump.cli.console import exit_on_input_error, print_notes, print_result, table, wrap
from everystump.cli.help import CSV_FORMAT, OTHER, GroupedCommand

if TYPE_CHECKING:
    from everystump._workflow.editing import Change

EXAMPLES = """\b
Examples:
  everystump edit credit.stump --flatten age:..25 -o edited.stump
  everystump edit credit.stump --remove sex --remove age:income -o edited.stump
  everystump edit credit.stump --cap amount:-1..1 --freeze age:..70 credit.csv -o edited.stump
"""
_EDITS = ("flatten", "remove", "cap", "freeze")
HEADINGS = {
    "Edits, in the given order": _EDITS,
    "Output": ("out",),
    **CSV_FORMAT,
    **OTHER,
}
_ORDER = "everystump.edits"
_ROUNDING, _LARGE = 1e-12, 1000.0


class _OrderedCommand(GroupedCommand):
    """A command that remembers the order of options of different names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; store the names of the options in the given order."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


@click.command(
    cls=_OrderedCommand,
    headings=HEADINGS,
    epilog=EXAMPLES,
    short_help="Flatten, remove, cap or freeze curves by hand.",
)
@MODEL
@OPTIONAL_DATA
@click.option(
    "--flatten",
    multiple=True,
    metavar="COL[:LOW..HIGH]",
    help="Make a curve constant, at its mean, everywhere or from LOW up to HIGH; missing values "
    "keep their contribution.",
)
@click.option(
    "--remove",
    multiple=True,
    metavar="COL|A:B",
    help="Remove a feature with its interactions, or an interaction.",
)
@click.option(
    "--cap",
    multiple=True,
    metavar="COL:LOW..HIGH",
    help="Limit the contribution of a feature to the range from LOW to HIGH.",
)
@click.option(
    "--freeze",
    multiple=True,
    metavar="COL:LOW..HIGH",
    help="Make a curve constant below the value LOW and above HIGH, at its value there.",
)
@out_option("Model file to write.")
@file_options
def edit(
    model: Path,
    data: Path | None,
    out: Path,
    dialect: Dialect,
    force: bool,
    as_json: bool,
    **texts: tuple[str, ...],
) -> None:
    """Change curves of a model by hand, and save the edited model, which records the edits.

    One end of a range may be omitted.  With DATA, the model is evaluated before and after the
    edits; if DATA is the table that the model was fitted to, on its held-out rows.
    """
    with exit_on_input_error():
        check_out(out, force, model, data)
        from everystump._workflow.editing import Edit, edit_model

        edits = [Edit(*pair) for pair in _in_order(texts)]
        if not edits:
            raise InvalidInputError(
                "No edit: pass --flatten, --remove, --cap or --freeze, such as --flatten age:..25."
            )
        for one in edits:
            one.check()
        from everystump.modelfile import save

        fitted = load_curves(model)
        edited, changes = edit_model(fitted, edits)
        compared, notes = None, list[str]()
        if data is not None:
            compared, notes = _compare(fitted, edited, data, dialect)
        save(edited, out)
    print_notes(*notes)
    rows = [[change.edit, *_change_texts(change)] for change in changes]
    text = table(["edit", "contributions before", "after"], rows)
    if compared is not None:
        from everystump.cli.compare_text import comparison_text

        text += f"\n\n{comparison_text(compared, with_details=False)}"
    kept = ("comparison", "metrics", "verdict", "warnings")
    record = {
        "out": str(out),
        "edits": list(edited.edits_),
        "changes": [change.as_dict() for change in changes],
        "evaluation": None if compared is None else {key: compared[key] for key in kept},
    }
    print_result(record, f"{text}\n\n{wrap(_saved(edited, out))}", as_json)


def _in_order(texts: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return the names and values of the edits in the order of the command line."""
    values = {name: iter(texts[name]) for name in _EDITS}
    order = click.get_current_context().meta[_ORDER]
    return [(name, next(values[name])) for name in order if name in values]


def _compare(fitted: Any, edited: Any, data: Path, dialect: Dialect) -> tuple[Any, list[str]]:
    """Return the comparison of a model before and after its edits, and notes."""
    from everystump._workflow.comparing import compare_models

    models, names = [fitted, edited], ["before", "after"]
    summary, rows, notes = compare_models(data, dialect, models, names)
    return summary, notes + list(dict.fromkeys(text.split(": ", 1)[-1] for text in rows.warnings))


def _change_texts(change: Change) -> list[str]:
    """Return the range of contributions before and after an edit."""
    scale = max(map(abs, change.before + change.after))
    return [_limits(ends, scale) for ends in (change.before, change.after)]


def _limits(ends: tuple[float, float], scale: float) -> str:
    """Return the ends of a range as text; what is 0 up to rounding is 0."""
    if max(map(abs, ends)) <= _ROUNDING * scale:
        return "0"
    low, high = (f"{'+' if end > 0 else ''}{format_number(end, 3)}" for end in _rounded(ends))
    return low if low == high else f"{low} to {high}"


def _rounded(ends: tuple[float, float]) -> list[float]:
    """Return numbers that are large, as of a regression, without decimals."""
    return [round(end) if abs(end) >= _LARGE else end for end in ends]


def _saved(edited: Any, out: Path) -> str:
    edits = pluralize(len(edited.edits_), "edit")
    return (
        f"Wrote {out}, a model with {edits}; its certificate, bounds and prediction intervals are "
        f"left out, since they hold for the model before its edits."
    )
