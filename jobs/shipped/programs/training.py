"""Trains a small neural network on a data set, from random weights."""

from portal_contract import run
from portal_training import new_weights, train

if __name__ == "__main__":
    run(lambda: train(new_weights))
