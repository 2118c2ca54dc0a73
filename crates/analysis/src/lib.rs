//! From evidence to cells, findings and decisions.
