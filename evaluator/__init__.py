"""Getting a patch, judging it, and doing so for many."""
