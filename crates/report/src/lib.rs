//! Analysis in, bytes out.
