"""Compiled loops over bytes; the same files run uncompiled. They import nothing else of ottla."""
