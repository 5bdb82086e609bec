"""Which labels can be trusted, and what they allow: regimes, corrections, delays, faults."""
