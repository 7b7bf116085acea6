from ottla.kernels.cleaning import difference as difference
from ottla.kernels.cleaning import put_varint as put_varint
from ottla.kernels.cleaning import zigzag as zigzag
