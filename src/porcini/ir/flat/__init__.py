"""Programs in flat states: a slot for each variable, unbounded numbers, and frames for processes."""
