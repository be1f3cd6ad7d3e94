"""From returned evidence to answers: what becomes of them where one passage is taken away."""
