"""What an emulator is made of: one module per library, and what they share.

Spec: docs/spec/host/emulation.md. Nobody imports a library's module but
:func:`blockwire.host.emulator.best_emulator`.
"""
