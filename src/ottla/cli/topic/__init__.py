"""`ottla topic`: what topics there are, and making, changing and removing them."""
