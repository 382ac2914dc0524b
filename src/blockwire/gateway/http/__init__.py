"""How requests become calls, and values answers: nothing here knows a turn."""
