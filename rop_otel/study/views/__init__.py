"""Tables shown: text, Markdown, and one HTML page with plots."""
