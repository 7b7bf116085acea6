"""How a message is declared, turned into bytes, and framed on a connection."""
