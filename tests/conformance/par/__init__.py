"""The judge of P3's parallel language (`.par`), written from docs/par.md and docs/design.md."""
