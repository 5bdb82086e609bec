"""Labels: which can be trusted, and what they allow. Regimes, corrections, delays, faults."""
