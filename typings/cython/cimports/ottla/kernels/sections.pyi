from ottla.kernels.sections import Sections as Sections
from ottla.kernels.sections import next_section as next_section
