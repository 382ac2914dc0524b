"""What is told to those who run a gateway, and what it does by itself."""
