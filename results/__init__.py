"""The durable record of every attempt, and every view of it."""
