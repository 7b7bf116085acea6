"""What the active controller decides: records to append, and the reply once they are committed."""
