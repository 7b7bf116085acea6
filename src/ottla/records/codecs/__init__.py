"""One module a codec, each over its library; `records/compression` loads one when it is first used.

Every module has `compress(data, level)`, `decompress(data, limit_bytes)` and
`decompress_into(data, out)`, which gives how many bytes it wrote.
"""
