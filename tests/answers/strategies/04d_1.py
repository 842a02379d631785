# right: the slope from the input and the result
def declare_log1p_exp():
    class Log1pExp(Unary):
        def forward(xp, self):
            return xp.maximum(self, 0) + xp.log1p(xp.exp(-xp.abs(self)))

        def grad_self(g, self, result):
            return g * F.exp(self - result)

    return Log1pExp

# wrong 04d_1_second_slope_is_nan: the logistic function as it is in the lesson
def declare_log1p_exp():
    class Log1pExp(Unary):
        def forward(xp, self):
            return xp.logaddexp(0, self)

        def grad_self(g, self):
            return g / (1 + F.exp(-self))

    return Log1pExp

# wrong 04d_1_slope_is_nan: the other side of the equation
def declare_log1p_exp():
    class Log1pExp(Unary):
        def forward(xp, self):
            return xp.logaddexp(0, self)

        def grad_self(g, self):
            return g * F.exp(self) / (1 + F.exp(self))

    return Log1pExp
