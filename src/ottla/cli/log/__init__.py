"""The verbs of `ottla log`: they read files of any log directory and change none."""
