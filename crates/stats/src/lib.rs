//! Statistics on plain numbers.
