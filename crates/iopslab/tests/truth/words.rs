//! No sentence contradicts the document.
