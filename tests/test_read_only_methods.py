"""Methods of rows that are declared read-only: a lost worker is rebuilt without calling them."""

import numpy as np
import pytest
from small_problem import Small

from everystump._core.losses import Logistic
from everystump._core.solvers import multinomial_blocks, row_blocks
from everystump._core.solvers.multinomial_blocks import MultinomialBlocks

PROBLEM = Small(Logistic)
N_BINS = PROBLEM.packing.codes.n_entries
BASIS = np.eye(3)[:, :2]
SOLVER_ARGS = {
    "active_rows": (),
    "certificate_sums": (1e-9,),
    "complementarity": (),
    "directional_slopes": ([0.0, 0.5],),
    "full_step_loss": (),
    "product": (np.linspace(-1, 1, N_BINS),),
    "scatter": (np.arange(60.0),),
    "scatter_noise": (3,),
    "total_distance": (),
}
CLASS_ARGS = {
    "class_curvature": (BASIS,),
    "curvature_along": (BASIS,),
    "curved_direction": (),
    "directional_slopes": ([0.0, 0.5],),
    "finish_product": (np.array([0.1, 0.2, -0.3]),),
    "largest_scores": (np.array([0.1, 0.2, -0.3]),),
    "worst_loss": (1e-9,),
}


def state(block):
    """Return a copy of all arrays of a block."""
    return {
        name: np.array(value)
        for name, value in vars(block).items()
        if isinstance(value, np.ndarray)
    }


def assert_unchanged(block, before, names):
    after = state(block)
    assert after.keys() == before.keys()
    for name in names:
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)


@pytest.fixture
def solver_block():
    small = Small(Logistic)
    small.move_to(np.linspace(-1, 1, small.terms.n_weights), 0.3)
    small.rows.set_direction(small.terms.matvec(np.ones(small.terms.n_weights)), 0.1)
    small.rows.sums()
    small.rows.curvature()
    (block,) = small.rows.parts.blocks
    return block


@pytest.fixture
def class_block():
    label = np.arange(60) % 3
    blocks = MultinomialBlocks(PROBLEM.packing, None, label, PROBLEM.weight, 3, 1)
    (block,) = blocks.blocks
    tables = np.linspace(-1, 1, 3 * N_BINS).reshape(3, -1)
    block.set_scores(tables, np.array([0.1, -0.1, 0.0]))
    block.probabilities()
    block.set_direction(tables[::-1].copy(), np.zeros(3))
    return block


@pytest.mark.parametrize("method", sorted(row_blocks.READ_ONLY))
def test_binary_problems(solver_block, method):
    before = state(solver_block)
    getattr(solver_block, method)(*SOLVER_ARGS[method])
    assert_unchanged(solver_block, before, before)


@pytest.mark.parametrize("method", sorted(multinomial_blocks.READ_ONLY))
def test_multinomial_problems(class_block, method):
    """A product is finished once: what it leaves in the direction is not used again."""
    before = state(class_block)
    getattr(class_block, method)(*CLASS_ARGS[method])
    is_product = method == "finish_product"
    assert_unchanged(class_block, before, before.keys() - ({"step", "a"} if is_product else set()))


@pytest.mark.parametrize(
    "method, args",
    [
        ("start_product", (np.linspace(-1, 1, 3 * N_BINS).reshape(3, -1),)),
        ("start_noise", (5,)),
    ],
)
def test_transient_methods_change_a_started_product_only(class_block, method, args):
    before = state(class_block)
    getattr(class_block, method)(*args)
    assert_unchanged(class_block, before, before.keys() - {"step", "a"})
