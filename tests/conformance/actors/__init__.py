"""The judge of actor programs (`.abs`), written from docs/abs.md and docs/design.md."""
