"""What a bug instance is: its record, its sources, its repository and its environment specification."""
