"""An agent's self, compiled from what was consistently said: spec/kernels.md. Pure; the model is an argument."""
