"""What kind of question is asked, as far as another search or another choice of passages follows from it."""
