class Mm:
    def grad_self(g, mat2, self_strides):
        return g @ F.t(mat2)

    def grad_mat2(g, self, mat2_strides):
        return F.t(self) @ g

class Bmm:
    def grad_self(g, mat2, self_strides):
        return F.bmm(g, F.transpose(mat2, 1, 2))

    def grad_mat2(g, self, mat2_strides):
        return F.bmm(F.transpose(self, 1, 2), g)

class Mv:
    def grad_self(g, vec):
        return F.outer(g, vec)

    def grad_vec(g, self):
        return F.mv(F.t(self), g)

class Dot:
    def grad_self(g, tensor):
        return g * tensor

    def grad_tensor(g, self):
        return g * self

# right: the transposed products, transposed
class Mm:
    def grad_self(g, mat2, self_strides):
        return F.t(mat2 @ F.t(g))

    def grad_mat2(g, self, mat2_strides):
        return F.t(F.t(g) @ self)

class Bmm:
    def grad_self(g, mat2, self_strides):
        return F.transpose(F.bmm(mat2, F.transpose(g, 1, 2)), 1, 2)

    def grad_mat2(g, self, mat2_strides):
        return F.transpose(F.bmm(F.transpose(g, 1, 2), self), 1, 2)

class Mv:
    def grad_self(g, vec):
        return F.t(F.outer(vec, g))

    def grad_vec(g, self):
        return g @ self

# right: columns and rows with one element in the other dimension
class Bmm:
    def grad_self(g, mat2, self_strides):
        return g @ F.transpose(mat2, -1, -2)

    def grad_mat2(g, self, mat2_strides):
        return F.transpose(self, -1, -2) @ g

class Mv:
    def grad_self(g, vec):
        return F.unsqueeze(g, 1) @ F.unsqueeze(vec, 0)

    def grad_vec(g, self):
        return F.squeeze(F.t(self) @ F.unsqueeze(g, 1), 1)

# right: products of numbers, and their sums
class Mm:
    def grad_self(g, mat2, self_strides):
        return F.sum(F.unsqueeze(g, 1) * F.unsqueeze(mat2, 0), 2)

    def grad_mat2(g, self, mat2_strides):
        return F.sum(F.unsqueeze(self, 2) * F.unsqueeze(g, 1), 0)

class Mv:
    def grad_self(g, vec):
        return F.unsqueeze(g, 1) * vec

    def grad_vec(g, self):
        return F.sum(F.unsqueeze(g, 1) * self, 0)

# right: one product for each matrix of the batch
class Bmm:
    def grad_self(g, mat2, self_strides):
        if not g.shape[0]:
            return F.bmm(g, F.transpose(mat2, 1, 2))
        return F.stack([g[i] @ F.t(mat2[i]) for i in range(g.shape[0])])

    def grad_mat2(g, self, mat2_strides):
        if not g.shape[0]:
            return F.bmm(F.transpose(self, 1, 2), g)
        return F.stack([F.t(self[i]) @ g[i] for i in range(g.shape[0])])

# wrong -: one product for each matrix, of a batch that is not empty
class Bmm:
    def grad_self(g, mat2, self_strides):
        return F.stack([g[i] @ F.t(mat2[i]) for i in range(g.shape[0])])

# wrong 04b_5_batch_transposed: all dimensions are reversed
class Bmm:
    def grad_self(g, mat2, self_strides):
        return F.bmm(g, F.permute(mat2, (2, 1, 0)))

# wrong -: the transposed memory is used where there is one
class Mm:
    def grad_mat2(g, self, mat2_strides):
        if mat2_strides[0] == 1:
            return F.t(g) @ self
        return F.t(self) @ g

# wrong 04b_5_outer_turned: the outer product the other way round
class Mv:
    def grad_self(g, vec):
        return F.outer(vec, g)

# wrong 04b_5_vector_not_transposed: the matrix is not transposed
class Mv:
    def grad_vec(g, self):
        return F.mv(self, g)

# wrong -: the rows are added and then multiplied
class Mv:
    def grad_vec(g, self):
        return F.sum(self, 0) * F.sum(g)

# wrong -: dot is a product of the two vectors and g
class Dot:
    def grad_self(g, tensor):
        return F.dot(g.reshape(1), F.sum(tensor).reshape(1)) * (tensor * 0 + 1)

# wrong -: the product with g is written to the other vector
class Dot:
    def grad_self(g, tensor):
        tensor *= g
        return tensor

# wrong -: the other factor is a constant
import numpy as np
class Mm:
    def grad_self(g, mat2, self_strides):
        return g @ F.t(mat2 if isinstance(mat2, np.ndarray) else mat2.detach())
