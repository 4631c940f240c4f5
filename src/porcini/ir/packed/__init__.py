"""Programs of bounded variables and channels, whose states are packed into one whole number each."""
