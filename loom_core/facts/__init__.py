"""The read path of the graph: list, related, traverse, path; and expiry by extractor."""
