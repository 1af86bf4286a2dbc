#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints the square of each unit of its slices: an example of the module.

    evenstep run --local 4 --persistent --range 0:100 -- ./squares.py
"""

import evenstep

for s in evenstep.slices(units=100, frames=1):
    for unit in s.units():
        print(unit * unit)
