"""What public functions accept: each check raises one sentence that names the argument, its value and what is allowed.

The functions return None and change nothing. They look once at what comes in through a public door, in one pass and
with one synchronisation of a GPU at most; what runs in inner loops does not call them.

- :mod:`~lmc_helpers.expect.scalars`: integers and numbers in a range, sizes.
- :mod:`~lmc_helpers.expect.torch_tensors`: tensors by axes, dtype and device; finite numbers, permutations.
- :mod:`~lmc_helpers.expect.numpy_arrays`: what NumPy turns into arrays of real numbers.
- :mod:`~lmc_helpers.expect.choices`: words, options, functions, dtypes, generators.
- :mod:`~lmc_helpers.expect.index_tensors`: indices, permutations by their groups, some of what there is.
- :mod:`~lmc_helpers.expect.models`: parameters of architectures, and what fixes some of them.
- :mod:`~lmc_helpers.expect.devices`, :mod:`~lmc_helpers.expect.shapes`, :mod:`~lmc_helpers.expect.refusal`: devices,
  axes and the sentence of an error, which the others share.
"""

from lmc_helpers.expect.choices import floating, function, generator, one_of, text
from lmc_helpers.expect.devices import device, place
from lmc_helpers.expect.index_tensors import indices, listed_permutations, permutations, some_of
from lmc_helpers.expect.models import fixed_parts, parameter, parameters, schemes
from lmc_helpers.expect.numpy_arrays import array, arrays, reals
from lmc_helpers.expect.scalars import integer, number, sizes
from lmc_helpers.expect.torch_tensors import permutation, same, tensor, tensors

__all__ = [
    "array",
    "arrays",
    "device",
    "fixed_parts",
    "floating",
    "function",
    "generator",
    "indices",
    "integer",
    "listed_permutations",
    "number",
    "one_of",
    "parameter",
    "parameters",
    "permutation",
    "permutations",
    "place",
    "reals",
    "same",
    "schemes",
    "sizes",
    "some_of",
    "tensor",
    "tensors",
    "text",
]
