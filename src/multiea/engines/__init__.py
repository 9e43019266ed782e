"""What turns a task into embeddings: trained encoders and propagation."""
