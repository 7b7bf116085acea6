from ottla.kernels.records import Walk as Walk
from ottla.kernels.records import enter as enter
from ottla.kernels.records import fixed as fixed
from ottla.kernels.records import hold as hold
from ottla.kernels.records import raise_fault as raise_fault
from ottla.kernels.records import step as step
