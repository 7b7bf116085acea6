"""Compiled loops over bytes; the same files run uncompiled, only slower. They import nothing of ottla."""
