//! What fails closed, and what becomes of the process.
