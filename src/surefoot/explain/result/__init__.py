"""What an answer means, says and claims."""
