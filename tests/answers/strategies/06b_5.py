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

# right: both, by hand
class RandomSegment:
    def compute_again(self):
        current, error = get_rng_state(), None
        set_rng_state(self.state)
        try:
            super().compute_again()
        except BaseException as caught:
            error = caught
        set_rng_state(current)
        if error is not None:
            raise error

# wrong 06b_5_numbers_to_come: the first run's state is put back
class RandomSegment:
    def compute_again(self):
        set_rng_state(self.state)
        try:
            super().compute_again()
        finally:
            set_rng_state(self.state)

# wrong 06b_5_numbers_drift: the state is kept where the second run ended
class RandomSegment:
    def compute_again(self):
        with fork_rng():
            set_rng_state(self.state)
            super().compute_again()
            self.state = get_rng_state()

# wrong 06b_5_numbers_to_come: put back where the second run raises, and nowhere else
class RandomSegment:
    def compute_again(self):
        now = get_rng_state()
        set_rng_state(self.state)
        try:
            super().compute_again()
        except Exception:
            set_rng_state(now)
            raise
