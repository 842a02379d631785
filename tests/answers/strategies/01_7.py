# right: checked one after the other
class FunctionNode:
    def _checked(self, results):
        expected = len(self._are_tensors)
        results = without_extra_nones(results, expected)
        if len(results) != expected:
            raise RuntimeError(WRONG_COUNT.format(name=self.name(), expected=expected, got=len(results)))
        gradients = []
        for position, (is_tensor, result) in enumerate(zip(self._are_tensors, results), 1):
            if is_tensor:
                if result is not None and not isinstance(result, Tensor):
                    raise RuntimeError(NOT_A_TENSOR.format(type_name=type(result).__name__))
                gradients.append(result)
            elif result is not None:
                raise RuntimeError(NO_GRADIENT.format(name=self.name(), position=position))
        return gradients

# right: an iterator of the results
class FunctionNode:
    def _checked(self, results):
        left = list(without_extra_nones(results, len(self._are_tensors)))
        if len(left) - len(self._are_tensors):
            raise RuntimeError(WRONG_COUNT.format(name=self.name(), got=len(left), expected=len(self._are_tensors)))
        kept = []
        for position in range(len(left)):
            each = left[position]
            if not self._are_tensors[position]:
                if each is None:
                    continue
                raise RuntimeError(NO_GRADIENT.format(name=self.name(), position=position + 1))
            if not (each is None or isinstance(each, Tensor)):
                raise RuntimeError(NOT_A_TENSOR.format(type_name=type(each).__name__))
            kept.append(each)
        return kept

# wrong -: all types are checked before the positions
class FunctionNode:
    def _checked(self, results):
        expected = len(self._are_tensors)
        results = without_extra_nones(results, expected)
        if len(results) != expected:
            raise RuntimeError(WRONG_COUNT.format(name=self.name(), expected=expected, got=len(results)))
        for result in results:
            if result is not None and not isinstance(result, Tensor):
                raise RuntimeError(NOT_A_TENSOR.format(type_name=type(result).__name__))
        for position, is_tensor in enumerate(self._are_tensors):
            if not is_tensor and results[position] is not None:
                raise RuntimeError(NO_GRADIENT.format(name=self.name(), position=position + 1))
        return [each for each, is_tensor in zip(results, self._are_tensors) if is_tensor]

# wrong -: the class of the Function is named
class FunctionNode:
    def _checked(self, results):
        expected, name = len(self._are_tensors), self.function.__name__
        results = without_extra_nones(results, expected)
        if len(results) != expected:
            raise RuntimeError(WRONG_COUNT.format(name=name, expected=expected, got=len(results)))
        gradients = []
        for position, (is_tensor, result) in enumerate(zip(self._are_tensors, results), 1):
            if is_tensor:
                if result is not None and not isinstance(result, Tensor):
                    raise RuntimeError(NOT_A_TENSOR.format(type_name=type(result).__name__))
                gradients.append(result)
            elif result is not None:
                raise RuntimeError(NO_GRADIENT.format(name=name, position=position))
        return gradients

# wrong 01_7_accepts_no_tensor: a number is turned into a tensor
class FunctionNode:
    def _checked(self, results):
        expected = len(self._are_tensors)
        results = without_extra_nones(results, expected)
        if len(results) != expected:
            raise RuntimeError(WRONG_COUNT.format(name=self.name(), expected=expected, got=len(results)))
        gradients = []
        for position, (is_tensor, result) in enumerate(zip(self._are_tensors, results), 1):
            if is_tensor:
                if isinstance(result, (int, float)):
                    from numpy import asarray
                    result = Tensor._plain(asarray(result))
                if result is not None and not isinstance(result, Tensor):
                    raise RuntimeError(NOT_A_TENSOR.format(type_name=type(result).__name__))
                gradients.append(result)
            elif result is not None:
                raise RuntimeError(NO_GRADIENT.format(name=self.name(), position=position))
        return gradients
