class Dropout:
    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)

class Dropout2d:
    def forward(self, input):
        return F.dropout2d(input, self.p, self.training, self.inplace)

# right: the functions do it
# These are the functions above.

# right: evaluation returns the input at once
class Dropout:
    def forward(self, input):
        if self.training is False:
            return input
        return F.dropout(input, p=self.p, training=True, inplace=self.inplace)

class Dropout2d:
    def forward(self, input):
        if self.training and self.p:
            return F.dropout2d(input, self.p, True, self.inplace)
        return input

# right: the result is written into the input
class Dropout:
    def forward(self, input):
        made = F.dropout(input, self.p, self.training)
        return input.copy_(made) if self.inplace else made

class Dropout2d:
    def forward(self, input):
        made = F.dropout2d(input, self.p, self.training)
        return input.copy_(made) if self.inplace else made

# wrong 13a_5_not_scaled: the scale is applied in evaluation instead
class Dropout:
    def forward(self, input):
        if self.training:
            return F.dropout(input, self.p, True, self.inplace) * (1 - self.p)
        return input * (1 - self.p)

# wrong 13a_5_p_is_kept: the probability to keep an element
class Dropout:
    def forward(self, input):
        return F.dropout(input, 1 - self.p, self.training, self.inplace)

class Dropout2d:
    def forward(self, input):
        return F.dropout2d(input, 1 - self.p, self.training, self.inplace)

# wrong 13a_5_elements_of_channels: channels element by element
class Dropout2d:
    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)

# wrong -: one mask, drawn at the first call, for all later ones
class Dropout:
    def forward(self, input):
        if not self.training:
            return input
        if "mask" not in self.__dict__ or self.mask.shape != input.shape:
            self.mask = F.dropout(input.detach() * 0 + 1, self.p, True)
        return input.mul_(self.mask) if self.inplace else input * self.mask

# wrong 13a_5_never_inplace: the result in a new tensor, and the input gets its values
class Dropout:
    def forward(self, input):
        made = F.dropout(input, self.p, self.training)
        if self.inplace:
            input.data = made.data
        return made

# wrong 13a_5_channels_drop_in_evaluation: Dropout2d always trains
class Dropout2d:
    def forward(self, input):
        return F.dropout2d(input, self.p, True, self.inplace)
