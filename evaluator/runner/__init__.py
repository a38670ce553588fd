"""Running a task's tests: the program inside the sandbox, what it is told, and what it reports."""
