"""Facts kept as data: environments of public tasks, and the starter set."""
