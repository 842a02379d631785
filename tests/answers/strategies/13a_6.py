# right: three questions first
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else self.momentum
        if update:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                weight_of_new = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# right: one branch for each case
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        mean, var, scale = self.running_mean, self.running_var, (self.weight, self.bias)
        if mean is None:
            return F.batch_norm(input, None, None, *scale, True, 0.0, self.eps)
        if not self.training:
            return F.batch_norm(input, mean, var, *scale, False, 0.0, self.eps)
        if not self.track_running_stats:
            return F.batch_norm(input, None, None, *scale, True, 0.0, self.eps)
        self.num_batches_tracked += 1
        momentum = self.momentum
        if momentum is None:
            momentum = 1 / int(self.num_batches_tracked)
        return F.batch_norm(input, mean, var, *scale, True, momentum, self.eps)

# right: copies of the buffers where they must not change
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        mean, var = self.running_mean, self.running_var
        tracks = self.training and self.track_running_stats and mean is not None
        if mean is not None and not tracks:
            mean, var = mean.clone(), var.clone()
        momentum = self.momentum
        if tracks:
            self.num_batches_tracked.add_(1)
        if momentum is None:
            momentum = 1.0 / self.num_batches_tracked.item() if tracks else 0.0
        return F.batch_norm(input, mean, var, self.weight, self.bias,
                            self.training or mean is None, momentum, self.eps)

# wrong -: a momentum of 0 is none
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = self.momentum or 0.0
        if update:
            self.num_batches_tracked.add_(1)
            if not self.momentum:
                weight_of_new = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# wrong 13a_6_the_flag_chooses_the_moments: the option decides in evaluation too
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else self.momentum
        if update:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                weight_of_new = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or not self.track_running_stats
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# wrong -: a new counter
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else self.momentum
        if update:
            self.num_batches_tracked = self.num_batches_tracked + 1
            if self.momentum is None:
                weight_of_new = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# wrong 13a_6_average_one_behind: the average of all batches by the count before this one
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else self.momentum
        if update:
            if self.momentum is None:
                weight_of_new = 1.0 / max(1, self.num_batches_tracked.item())
            self.num_batches_tracked.add_(1)
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# wrong 13a_6_counted_though_switched_off: batches are counted without the option as well
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                weight_of_new = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# wrong 13a_6_momentum_of_the_old: the weight of the old moments
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else 1 - self.momentum
        if update:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                weight_of_new = 1.0 / self.num_batches_tracked.item()
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)

# wrong -: a counter of the object for the average of all batches
class _BatchNorm:
    def forward(self, input):
        self._check_input_dim(input)
        update = self.training and self.track_running_stats and self.running_mean is not None
        weight_of_new = 0.0 if self.momentum is None else self.momentum
        if update:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                self.__dict__["seen"] = self.__dict__.get("seen", 0) + 1
                weight_of_new = 1.0 / self.__dict__["seen"]
        by_batch = self.training or self.running_mean is None
        kept = update or not self.training
        return F.batch_norm(input, self.running_mean if kept else None,
                            self.running_var if kept else None, self.weight, self.bias,
                            by_batch, weight_of_new, self.eps)
