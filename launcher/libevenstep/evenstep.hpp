// SPDX-License-Identifier: BSD-2-Clause
//
// evenstep.hpp - libevenstep for C++17: sessions that close themselves, slices
// in a range-for, errors as exceptions.  Header only; link with -levenstep.
//
//     evenstep::session session(units, frames);
//     for (const evenstep::slice &s : session)
//         for (std::uint64_t unit : s.units())
//             compute(unit);
//
// A slice is done when the next one is asked for; one whose work throws goes
// back.  What evenstep.h says holds here, too.
#ifndef EVENSTEP_HPP
#define EVENSTEP_HPP

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // evenstep_peer() and its struct
#include "evenstep.h"
#pragma GCC diagnostic pop

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace evenstep
{

using range = ::evenstep_range;

// The numbers of some units, for a range-for.
class units_of
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = std::uint64_t;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type *;
        using reference = value_type;

        explicit iterator(std::uint64_t unit) : unit_(unit)
        {
        }
        reference operator*() const
        {
            return unit_;
        }
        iterator &operator++()
        {
            ++unit_;
            return *this;
        }
        iterator operator++(int)
        {
            return iterator(unit_++);
        }
        bool operator==(const iterator &other) const
        {
            return unit_ == other.unit_;
        }
        bool operator!=(const iterator &other) const
        {
            return unit_ != other.unit_;
        }

      private:
        std::uint64_t unit_;
    };

    explicit units_of(range r) : range_(r)
    {
    }
    iterator begin() const
    {
        return iterator(range_.begin);
    }
    iterator end() const
    {
        return iterator(range_.end);
    }

  private:
    range range_;
};

// Some units of a frame.
struct slice {
    std::uint64_t first, last; // up to, not with, last
    std::uint64_t frame;
    std::string label;

    std::uint64_t size() const
    {
        return last - first;
    }
    units_of units() const
    {
        return units_of(range{first, last});
    }
};

[[noreturn]] inline void fail(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

// A connection to evenstep; a process has one at a time.
class session
{
  public:
    // flags: EVENSTEP_SURVIVES, or 0.  Throws std::system_error.
    explicit session(std::uint64_t units = 1,
                     std::uint64_t frames = 0,
                     unsigned flags = 0)
    {
        int rc = ::evenstep_open_flags(units, frames, flags);

        if (rc < 0)
            fail("evenstep_open");
        alone_ = rc == 0;
    }
    ~session()
    {
        ::evenstep_close();
    }
    session(const session &) = delete;
    session &operator=(const session &) = delete;

    // There is no evenstep: the process gets every frame whole.
    bool alone() const
    {
        return alone_;
    }

    // true: next() would return at once.  Below 0: without limit.
    bool wait(int milliseconds = -1)
    {
        int rc = ::evenstep_wait(milliseconds);

        if (rc < 0)
            fail("evenstep_wait");
        return rc > 0;
    }

    // The next slice, if there are more.
    std::optional<slice> next()
    {
        slice s;

        std::cout.flush(); // this output belongs to no slice
        int rc = ::evenstep_next(&s.first, &s.last);
        if (rc < 0)
            fail("evenstep_next");
        if (rc == 0)
            return std::nullopt;
        s.frame = ::evenstep_frame();
        s.label = ::evenstep_label();
        return s;
    }

    // The slice is done; what was printed since next() is its output.
    void done()
    {
        std::cout.flush();
        if (::evenstep_done() < 0)
            fail("evenstep_done");
    }

    // A descriptor of the slice's lines; the library's.
    int lines() const
    {
        int fd = ::evenstep_lines();

        if (fd < 0)
            fail("evenstep_lines");
        return fd;
    }

    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = slice;
        using difference_type = std::ptrdiff_t;
        using pointer = const slice *;
        using reference = const slice &;

        iterator() = default;
        explicit iterator(session *of) : session_(of), slice_(of->next())
        {
        }
        reference operator*() const
        {
            return *slice_;
        }
        pointer operator->() const
        {
            return &*slice_;
        }
        iterator &operator++()
        {
            session_->done();
            slice_ = session_->next();
            return *this;
        }
        bool operator==(const iterator &other) const
        {
            return slice_.has_value() == other.slice_.has_value();
        }
        bool operator!=(const iterator &other) const
        {
            return !(*this == other);
        }

      private:
        session *session_ = nullptr;
        std::optional<slice> slice_;
    };
    iterator begin()
    {
        return iterator(this);
    }
    iterator end()
    {
        return iterator();
    }

  private:
    bool alone_ = false;
};

// This task listens at that port, 0: nowhere.  Waits until all tasks of the step
// have said where; then peer() has the port of each.  Throws std::system_error.
inline void listen(int port)
{
    if (::evenstep_listen(port) < 0)
        fail("evenstep_listen");
}

// How a task of the step is reached.
inline struct ::evenstep_peer peer(std::uint32_t rank)
{
    struct ::evenstep_peer p;

    if (::evenstep_peer(rank, &p) < 0)
        fail("evenstep_peer");
    return p;
}

// For MPI_Alltoallv(): counts and displacements in units.
struct moves {
    std::vector<int> send_count, send_at, receive_count, receive_at;
};

// What `rank` sends and receives so that each rank has what it wants next.
inline moves redistribute(const std::vector<range> &has,
                          const std::vector<range> &wants,
                          int rank)
{
    std::size_t n = has.size();
    moves m{std::vector<int>(n), std::vector<int>(n), std::vector<int>(n),
            std::vector<int>(n)};
    ::evenstep_moves to{m.send_count.data(), m.send_at.data(),
                        m.receive_count.data(), m.receive_at.data()};

    errno = EINVAL;
    if (wants.size() != n
        || ::evenstep_redistribute(has.data(), wants.data(),
                                   static_cast<int>(n), rank, &to)
               < 0)
        fail("evenstep_redistribute");
    return m;
}

} // namespace evenstep

#endif
