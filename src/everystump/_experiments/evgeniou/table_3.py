"""Evgeniou et al. (2004), Table III: votes of 100 SVMs, each trained on very few samples."""

from __future__ import annotations

from functools import partial

from everystump._experiments.engine import Entry
from everystump._experiments.engine.experiment import Cell, Claim, Experiment, Record, Report
from everystump._experiments.engine.records import dataset_names, select
from everystump._experiments.evgeniou import protocol, tuning
from everystump._experiments.published import load_published, parse_number

N_SVMS = 100
SUBSAMPLES = {"_10": 0.1, "_5": 0.05}
METHODS = {
    "vcc_10": "VCC 10%",
    "vcc_5": "VCC 5%",
    "acc_10": "ACC 10%",
    "acc_5": "ACC 5%",
    "svm": "SVM",
}
FACES_ONLY = {"vcc_1": "VCC 1%", "acc_1": "ACC 1%"}
FACES = "the face images of Osuna et al. (1997) are not available"
DATASETS = ("diabetes", "thyroid")
SMALL, SMALL_IN_PRINT = 2.0, 3.2  # points
PROTOCOL = f"""{tuning.PROTOCOL.strip()}

Each of 100 SVMs is trained on a random 10% or 5% of the training samples (diabetes: 46 or 23 of
468, thyroid: 14 or 7 of 140, and 4 of the 98 samples used for validation; subsamples without both
classes are drawn again). The paper gives no standard deviations for the votes; the column SVM is
the same as in Table II. The dataset faces is missing: {FACES}.
"""


def report(records: list[Record]) -> Report:
    """Compare with the printed table, and test the accuracy of votes with few samples per SVM."""
    deviations = {
        row["dataset"]: parse_number(row["svm_sd"]) for row in load_published("evgeniou_table2")
    }
    cells = []
    for row in load_published("evgeniou_table3"):
        name = row["dataset"]
        for method, title in METHODS.items() if name in DATASETS else ():
            deviation = deviations[name] if method == "svm" else None
            paper = parse_number(row[method])
            cells.append(tuning.make_cell(records, name, method, title, paper, deviation))
        for method, title in (METHODS | FACES_ONLY).items() if name == "faces" else ():
            cells.append(Cell(name, title, None, None, parse_number(row[method]), reason=FACES))
    claims = [
        claim(select(records, dataset=name), name)
        for name in dataset_names(records)
        for claim in (_learned_weights, FIXED_WEIGHTS[name])
    ]
    return Report(cells, claims)


def _learned_weights(records: list[Record], dataset: str) -> Claim:
    loss = tuning.compare_with_svm(records, "acc_5")
    return Claim(
        f"On {dataset}, the vote with learned weights is about as accurate as one SVM, even with "
        "5% of the samples per SVM.",
        100 * loss.difference < SMALL,
        f"compared with one SVM, the error changes by {loss.format(scale=100)}; about as accurate: "
        f"an error less than {SMALL:g} points higher.",
    )


def _small_loss(records: list[Record], dataset: str) -> Claim:
    loss = tuning.compare_with_svm(records, "vcc_5")
    return Claim(
        f"On {dataset}, the vote with fixed weights is only slightly less accurate than one SVM.",
        100 * loss.difference < SMALL_IN_PRINT,
        f"with 5% of the samples the error changes by {loss.format(scale=100)}; only slightly: by "
        f"less than the paper's {SMALL_IN_PRINT:g} points.",
    )


def _significant_loss(records: list[Record], dataset: str) -> Claim:
    loss = tuning.compare_with_svm(records, "vcc_5")
    return Claim(
        f"On {dataset}, the vote with fixed weights is significantly less accurate than one SVM.",
        loss.first_is_higher,
        f"with 5% of the samples the error changes by {loss.format(scale=100)}.",
    )


FIXED_WEIGHTS = {"diabetes": _small_loss, "thyroid": _significant_loss}


def make_experiment(entry: Entry) -> Experiment:
    """Return the experiment."""
    votes = tuple(tuning.Vote(suffix, N_SVMS, part) for suffix, part in SUBSAMPLES.items())
    run_task = partial(tuning.run_task, votes=votes)
    return Experiment(entry, PROTOCOL, protocol.make_tasks(*DATASETS), run_task, report)
