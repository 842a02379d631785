"""The capstone at the end of the course: its tasks, their results, the certificate."""
