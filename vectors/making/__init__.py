"""What `make.py` is made of: one module for each group of vector files.

Valid lines come from the library; what is wrong in a line is made by hand, from bytes, so that no encoder repairs it.
Nothing here is random and nothing reads a clock: the same bytes come out everywhere.
"""
