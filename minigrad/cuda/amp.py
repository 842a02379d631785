"""`torch.cuda.amp`: another name of `minigrad.amp.for_cuda`, which is in a layer above this one."""

import sys

from .. import on_demand

sys.modules[__name__] = on_demand.module_of("amp.for_cuda")
