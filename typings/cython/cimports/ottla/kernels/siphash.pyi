from ottla.kernels.siphash import SipHash as SipHash
from ottla.kernels.siphash import digest as digest
from ottla.kernels.siphash import keyed as keyed
