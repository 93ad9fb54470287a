def get_ipython():
    """Return None: there is no shell."""
    return None
