class StackError(Exception):
    """The stack cannot start or go on; the message is for the person at the terminal and names the part."""
