"""The passages that both services know, and the questions, each with its selected passage."""

from __future__ import annotations

PASSAGES = {
    "json.dumps": "Serialize an object to a JSON formatted string, with indent for pretty printing.",
    "json.loads": "Deserialize a JSON string to a Python object.",
    "shutil.copytree": "Recursively copy an entire directory tree to another place, symlinks and errors included.",
    "shutil.rmtree": "Delete an entire directory tree; errors may be ignored.",
    "heapq.merge": "Merge multiple sorted inputs into a single sorted output, lazily.",
    "heapq.nlargest": "Return a list with the n largest elements of an iterable.",
    "queue.Queue.put_nowait": "Put an item into the queue without blocking; raise Full if no slot is free.",
    "queue.Queue.get_nowait": "Remove and return an item from the queue without blocking.",
}

QUESTIONS = {
    "How do I write an object as a JSON string?": "json.dumps",
    "How do I copy a directory tree?": "shutil.copytree",
    "How do I merge sorted inputs?": "heapq.merge",
    "How do I find the n largest elements?": "heapq.nlargest",
    "How do I put an item without blocking?": "queue.Queue.put_nowait",
    "How do I get rid of a directory?": "shutil.rmtree",
}
