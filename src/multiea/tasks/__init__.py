"""What large work is made of: tasks that write shards, and runners that run them here or on a cluster."""
