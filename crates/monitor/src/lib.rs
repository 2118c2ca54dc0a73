//! Readers of /proc, cgroups and GC logs.
