"""Pictures of lessons, drawn as SVG from what minigrad computes, in one style.

`lessons/pictures/NN_name.py` has the pictures of a lesson, one function each, which `minigrad dev
build` runs. Each module here draws one kind of picture.
"""

from .drawing import MOST_WIDTH, Drawing, Picture, beside, chained, stacked
from .flame import flame
from .graphs import Arrow, Box, backward_graph, graph, number_graph
from .grids import grid, row_times_matrix
from .memory import View, storage
from .plots import Curve, bars, plot
from .tables import Chip, table

__all__ = ["MOST_WIDTH", "Arrow", "Box", "Chip", "Curve", "Drawing", "Picture", "View",
           "backward_graph", "bars", "beside", "chained", "flame", "graph", "grid",
           "number_graph", "plot", "row_times_matrix", "stacked", "storage", "table"]
