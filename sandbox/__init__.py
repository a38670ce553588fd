"""A place to run untrusted code: prepared once, copied afresh for every run, observed from outside."""
