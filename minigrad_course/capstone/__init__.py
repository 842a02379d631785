"""The capstone: what is asked for at the end of the course, what was measured, the certificate."""
