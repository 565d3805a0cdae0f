"""What builds the documentation; nothing here is part of the package."""
