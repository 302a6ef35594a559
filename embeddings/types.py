"""Plain data of embedding and search."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]  # one dimension, finite, not zero
