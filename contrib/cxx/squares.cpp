// SPDX-License-Identifier: BSD-2-Clause
//
// squares.cpp - prints the square of each unit of its slices: an example of
// evenstep.hpp.
//
//     g++ -std=c++17 -o squares squares.cpp $(pkg-config --cflags --libs evenstep)
//     evenstep run --local 4 --persistent --range 0:100 -- ./squares
#include <evenstep.hpp>

#include <iostream>

int main()
{
    evenstep::session session(100, 1);

    for (const evenstep::slice &s : session)
        for (std::uint64_t unit : s.units())
            std::cout << unit * unit << '\n';
}
