"""Small programs that the lessons begin with; nothing else imports them."""
