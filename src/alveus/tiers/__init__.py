"""STM, MTM and LPM as values and rules: spec/tiers.md. Pure; time, texts, vectors and models are arguments."""
