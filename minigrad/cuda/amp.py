"""`torch.cuda.amp`: an alias of `minigrad.amp.for_cuda`, from a layer above this one."""

import sys

from .. import on_demand

sys.modules[__name__] = on_demand.module_of("amp.for_cuda")
