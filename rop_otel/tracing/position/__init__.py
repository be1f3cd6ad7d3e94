"""Where in which handoff the application is now."""
