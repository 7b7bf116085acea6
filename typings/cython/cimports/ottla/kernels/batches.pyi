from ottla.kernels.batches import Run as Run
from ottla.kernels.batches import opened as opened
from ottla.kernels.batches import row_value as row_value
from ottla.kernels.batches import step as step
