"""Small pictures of attached images, made in a process of their own."""
