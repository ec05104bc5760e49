"""The paper's own methods: the cutting-set procedure over a nonconvex QCQP or a piecewise McCormick MILP."""
