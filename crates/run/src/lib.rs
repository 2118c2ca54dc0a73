//! The run directory: journal, atomic trials, resume.
