"""What should happen: state machines that take events and answer with values, and do nothing."""
