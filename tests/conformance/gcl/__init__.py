"""The judge of guarded commands (`.gcl`), written from docs/gcl.md and docs/design.md."""
