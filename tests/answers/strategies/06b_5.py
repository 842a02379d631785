# right: inside fork_rng
class RandomSegment:
    def compute_again(self):
        with fork_rng():
            set_rng_state(self.state)
            super().compute_again()

# right: put back by hand
class RandomSegment:
    def compute_again(self):
        now = get_rng_state()
        set_rng_state(self.state)
        try:
            super().compute_again()
        finally:
            set_rng_state(now)

# wrong 06b_5_lost_by_exception: put back by hand, without finally
class RandomSegment:
    def compute_again(self):
        now = get_rng_state()
        set_rng_state(self.state)
        super().compute_again()
        set_rng_state(now)

# wrong 06b_5_numbers_to_come: the state is set before the fork
class RandomSegment:
    def compute_again(self):
        set_rng_state(self.state)
        with fork_rng():
            super().compute_again()
