"""One live search: advice reading by reading, a log that survives crashes, and transports."""
