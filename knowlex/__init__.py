import gc

# Importing makes objects that stay: looking for garbage among them took a sixth of every process's start. And
# a few hundred questions at once are no garbage, either.
gc.set_threshold(50_000, 20, 50)
