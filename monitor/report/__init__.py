"""What is shown of a result, wherever it is shown: headlines, sentences, advice, text, JSON."""
