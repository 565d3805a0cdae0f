"""Learning to search: rollouts, learners, training."""
