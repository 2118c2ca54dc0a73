//! From a configuration to agents.
