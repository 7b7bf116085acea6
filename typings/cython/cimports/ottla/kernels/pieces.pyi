from ottla.kernels.pieces import Blobs as Blobs
from ottla.kernels.pieces import Piece as Piece
from ottla.kernels.pieces import begin as begin
from ottla.kernels.pieces import grow_headers as grow_headers
from ottla.kernels.pieces import grow_pair as grow_pair
from ottla.kernels.pieces import grow_rows as grow_rows
from ottla.kernels.pieces import repeat_constants as repeat_constants
from ottla.kernels.pieces import taken_columns as taken_columns
