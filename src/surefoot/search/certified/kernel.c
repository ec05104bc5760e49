/* The innermost loops of the certified search, for small problems.
 *
 * A search of a table with eight columns takes some thousand steps on matrices of four to ten rows. Called from
 * Python, each of them is some forty calls of functions that work on a few numbers: 0.3 milliseconds in which
 * two microseconds' worth of arithmetic is done. Here are the same steps without the calls.
 *
 * Each function does what the Python function of the same name does; that one is its definition, is what runs
 * where this file is not compiled or a problem is large, and is compared with it in the tests. Nothing here
 * is trusted: what is found is written into certificates, which the checkers judge by themselves.
 *
 * Matrices are dense and row by row. No function keeps anything between two calls.
 */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

/* Raised with every change of what a function takes; the caller refuses a library of another number. */
API int kernel_version(void) { return 1; }

/* ---------------------------------------------------------------- matrices */

/* In four sums: one would have to wait for each addition. */
static double dot(int n, const double *a, const double *b) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0}, rest = 0.0;
    int i = 0;
    for (; i + 3 < n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++) rest += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

/* C = A B, of shapes (p, q) and (q, r). */
static void times(int p, int q, int r, const double *A, const double *B, double *C) {
    for (int i = 0; i < p; i++) {
        double *c = C + (size_t)i * r;
        memset(c, 0, sizeof(double) * r);
        for (int k = 0; k < q; k++) {
            const double a = A[(size_t)i * q + k], *b = B + (size_t)k * r;
            for (int j = 0; j < r; j++) c[j] += a * b[j];
        }
    }
}

/* C = A B', of shapes (p, q) and (r, q). */
static void times_transposed(int p, int q, int r, const double *A, const double *B, double *C) {
    for (int i = 0; i < p; i++)
        for (int j = 0; j < r; j++) C[(size_t)i * r + j] = dot(q, A + (size_t)i * q, B + (size_t)j * q);
}

/* The lower factor of K, zero above its diagonal; 0 unless more than a share of each diagonal entry is left. */
static int cholesky(int n, const double *K, double *L, double share) {
    memset(L, 0, sizeof(double) * n * n);
    for (int i = 0; i < n; i++) {
        double *row = L + (size_t)i * n;
        for (int j = 0; j < i; j++)
            row[j] = (K[(size_t)i * n + j] - dot(j, row, L + (size_t)j * n)) / L[(size_t)j * n + j];
        const double diagonal = K[(size_t)i * n + i], left = diagonal - dot(i, row, row);
        if (!(left > share * diagonal) || !(diagonal > 0) || !isfinite(left)) return 0;
        row[i] = sqrt(left);
    }
    return 1;
}

/* L x = b, in the place of b. */
static void solve_lower(int n, const double *L, double *b) {
    for (int i = 0; i < n; i++) b[i] = (b[i] - dot(i, L + (size_t)i * n, b)) / L[(size_t)i * n + i];
}

/* L L' x = b, in the place of b. */
static void solve_factored(int n, const double *L, double *b) {
    solve_lower(n, L, b);
    for (int i = n - 1; i >= 0; i--) {
        b[i] /= L[(size_t)i * n + i];
        for (int j = 0; j < i; j++) b[j] -= L[(size_t)i * n + j] * b[i];
    }
}

/* V = inverse of L, lower as well. */
static void invert_lower(int n, const double *L, double *V) {
    memset(V, 0, sizeof(double) * n * n);
    for (int i = 0; i < n; i++) {
        double *v = V + (size_t)i * n;
        for (int k = 0; k < i; k++) {
            const double a = L[(size_t)i * n + k], *other = V + (size_t)k * n;
            for (int j = 0; j <= k; j++) v[j] -= a * other[j];
        }
        const double one = 1.0 / L[(size_t)i * n + i];
        for (int j = 0; j < i; j++) v[j] *= one;
        v[i] = one;
    }
}

/* W = V'V for a lower V. */
static void gram_of_lower(int n, const double *V, double *W) {
    memset(W, 0, sizeof(double) * n * n);
    for (int k = 0; k < n; k++) {
        const double *v = V + (size_t)k * n;
        for (int i = 0; i <= k; i++)
            for (int j = 0; j <= i; j++) W[(size_t)i * n + j] += v[i] * v[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) W[(size_t)i * n + j] = W[(size_t)j * n + i];
}

/* B = V A V' for a lower V and a symmetric A; `half` has room for as much. */
static void congruent(int n, const double *V, const double *A, double *half, double *B) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) half[(size_t)i * n + j] = dot(i + 1, V + (size_t)i * n, A + (size_t)j * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            B[(size_t)i * n + j] = B[(size_t)j * n + i] = dot(j + 1, half + (size_t)i * n, V + (size_t)j * n);
}

/* How many eigenvalues of a tridiagonal matrix with diagonal a and squares of the others b are above x. */
static int eigenvalues_above(int n, const double *a, const double *b, double x) {
    int above = 0;
    double pivot = 1.0;
    for (int i = 0; i < n; i++) {
        pivot = a[i] - x - (i ? b[i] / pivot : 0.0);
        if (fabs(pivot) < 1e-300) pivot = -1e-300;
        above += pivot > 0;
    }
    return above;
}

/* The largest eigenvalue of a symmetric A, which is destroyed, from above; `work` has room for 3 n.
 * Reflections make A tridiagonal, bisection finds what is asked for: its other eigenvalues are of no use. */
static double largest_eigenvalue(int n, double *A, double *work) {
    double *v = work, *diagonal = work + n, *beside = work + 2 * n;
    if (n < 1) return -INFINITY;
    beside[0] = 0.0;
    for (int k = 0; k + 2 < n; k++) {
        double *column = A + (size_t)k * n; /* row k, which is column k */
        const double rest = dot(n - k - 2, column + k + 2, column + k + 2);
        double alpha = column[k + 1];
        if (rest > 0.0) {
            const double size = sqrt(rest + alpha * alpha), head = alpha + copysign(size, alpha);
            const double beta = 2.0 * head * head / (rest + head * head);
            v[k + 1] = 1.0;
            for (int i = k + 2; i < n; i++) v[i] = column[i] / head;
            alpha = -copysign(size, alpha);
            /* A - v w' - w v' with w = beta (A v - (beta v'A v / 2) v) */
            double *w = diagonal, sum = 0.0;
            for (int i = k + 1; i < n; i++) {
                w[i] = beta * dot(n - k - 1, A + (size_t)i * n + k + 1, v + k + 1);
                sum += w[i] * v[i];
            }
            for (int i = k + 1; i < n; i++) w[i] -= 0.5 * beta * sum * v[i];
            for (int i = k + 1; i < n; i++)
                for (int j = k + 1; j < n; j++) A[(size_t)i * n + j] -= v[i] * w[j] + w[i] * v[j];
        }
        beside[k + 1] = alpha * alpha;
    }
    if (n > 1) beside[n - 1] = A[(size_t)(n - 2) * n + n - 1] * A[(size_t)(n - 2) * n + n - 1];
    double low = -INFINITY, high = -INFINITY, size = 0.0;
    for (int i = 0; i < n; i++) {
        const double reach = sqrt(beside[i]) + (i + 1 < n ? sqrt(beside[i + 1]) : 0.0);
        diagonal[i] = A[(size_t)i * n + i];
        if (!isfinite(diagonal[i] + reach)) return NAN;
        low = fmax(low, diagonal[i]); /* no diagonal entry is above the largest eigenvalue */
        high = fmax(high, diagonal[i] + reach);
        size = fmax(size, fabs(diagonal[i]) + reach);
    }
    while (high - low > 1e-11 * fabs(high) + 1e-14 * size) {
        const double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) break;
        if (eigenvalues_above(n, diagonal, beside, middle))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Room for doubles, handed out piece by piece and freed at once. */
typedef struct {
    double *start, *next;
} Room;

static int room_open(Room *room, size_t size) {
    room->start = room->next = malloc(sizeof(double) * (size + 1));
    return room->start != NULL;
}

static double *room_for(Room *room, size_t size) {
    double *place = room->next;
    room->next += size;
    return place;
}

/* ------------------------------------------- stacks.py: many small problems */

typedef struct {
    int steps, more_steps, tries;
    double largest, huge, safety, first, shrink, slower, least, inner, ridge, more;
} StackSettings;

typedef struct {
    int m, D, n_margins, exactly;
    const StackSettings *set;
    const double *terms; /* (m, D, D) */
    double *x, *z, *spread, *value;
    unsigned char *refuted, *relaxed;
    double *total, *L, *V, *C, *half, *local, *traces, *U, *inner, *factor, *change, *right, *bent, *scratch;
} Stacked;

static void weighted(const Stacked *s, const double *weights, double *total) {
    const int size = s->D * s->D;
    memset(total, 0, sizeof(double) * size);
    for (int j = 0; j < s->m; j++) {
        const double w = weights[j], *T = s->terms + (size_t)j * size;
        for (int i = 0; i < size; i++) total[i] += w * T[i];
    }
}

/* The factor of minus the quadratic part of a sum. */
static int concave(const Stacked *s, const double *total, double *K, double *L) {
    const int d = s->D - 1;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) K[i * d + j] = -total[i * s->D + j];
    return cholesky(d, K, L, 1e-13);
}

static int first_weights(Stacked *s) {
    const int others = s->m - s->n_margins;
    double size = 0.05;
    for (int attempt = 0; attempt < s->set->tries; attempt++) {
        for (int j = 0; j < s->m; j++) s->x[j] = j < others ? size : 1.0 / s->n_margins;
        weighted(s, s->x, s->total);
        if (concave(s, s->total, s->bent, s->L)) {
            for (int j = 0; j < others; j++) s->x[j] = 1.5 * size;
            return 1;
        }
        size *= s->set->more;
    }
    return 0;
}

/* The functions in the coordinates in which the moments of the relaxed solution are the identity. */
static int localise(Stacked *s, double mu) {
    const int D = s->D, d = D - 1;
    memset(s->C, 0, sizeof(double) * D * D);
    const double root = sqrt(mu);
    for (int i = 0; i < d; i++) {
        for (int j = i; j < d; j++) s->C[i * D + j] = root * s->V[j * d + i];
        s->C[i * D + d] = s->z[i];
    }
    s->C[D * D - 1] = 1.0;
    double sum = 0.0;
    for (int j = 0; j < s->m; j++) {
        double *local = s->local + (size_t)j * D * D;
        times(D, D, D, s->terms + (size_t)j * D * D, s->C, s->half);
        memset(local, 0, sizeof(double) * D * D);
        for (int k = 0; k < D; k++)
            for (int i = k; i < D; i++) {
                const double c = s->C[k * D + i];
                for (int l = 0; l < D; l++) local[i * D + l] += c * s->half[k * D + l];
            }
        double trace = 0.0;
        for (int i = 0; i < D; i++) trace += local[i * D + i];
        for (int i = 0; i < D * D; i++) sum += fabs(local[i]);
        s->traces[j] = trace;
    }
    return isfinite(sum);
}

/* Newton's direction as shares of the weights, those of the margins keeping their sum. */
static int direction(Stacked *s, double mu) {
    const int D = s->D, m = s->m, q = D * (D + 1) / 2 - 1;
    const double root2 = sqrt(2.0);
    for (int j = 0; j < m; j++) {
        const double scale = s->x[j] / mu, *local = s->local + (size_t)j * D * D;
        double *u = s->U + (size_t)j * q;
        for (int i = 0, place = 0; i < D; i++)
            for (int k = i; k < D && place < q; k++)
                u[place++] = scale * local[i * D + k] * (i == k ? 1.0 : root2);
    }
    double *along = s->right, *fixed = s->right + m;
    for (int j = 0; j < m; j++) {
        along[j] = 1.0 - s->x[j] * s->traces[j] / mu;
        fixed[j] = j < m - s->n_margins ? 0.0 : s->x[j];
    }
    memset(s->inner, 0, sizeof(double) * q * q);
    for (int j = 0; j < m; j++) {
        const double *u = s->U + (size_t)j * q;
        for (int i = 0; i < q; i++)
            for (int k = 0; k <= i; k++) s->inner[i * q + k] += u[i] * u[k];
    }
    for (int i = 0; i < q; i++) s->inner[i * q + i] = s->set->ridge * s->inner[i * q + i] + 1.0;
    if (!cholesky(q, s->inner, s->factor, 0.0)) return 0;
    for (int side = 0; side < 2; side++) {
        double *r = s->right + side * m, *Ur = s->scratch;
        memset(Ur, 0, sizeof(double) * q);
        for (int j = 0; j < m; j++)
            for (int i = 0; i < q; i++) Ur[i] += s->U[(size_t)j * q + i] * r[j];
        solve_factored(q, s->factor, Ur);
        for (int j = 0; j < m; j++) r[j] -= dot(q, s->U + (size_t)j * q, Ur);
    }
    double above = 0.0, below = 0.0;
    for (int j = m - s->n_margins; j < m; j++) {
        above += s->x[j] * along[j];
        below += s->x[j] * fixed[j];
    }
    const double excess = above / below;
    for (int j = 0; j < m; j++) s->change[j] = along[j] - excess * fixed[j];
    return isfinite(excess);
}

/* One over the length at which a weight vanishes or the sum is no longer concave; NaN where it has none. */
static double nearest_end(Stacked *s) {
    const int D = s->D, d = D - 1;
    double end = -INFINITY;
    for (int j = 0; j < s->m; j++) {
        s->right[j] = s->x[j] * s->change[j];
        end = fmax(end, -s->change[j]);
    }
    weighted(s, s->right, s->half);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) s->C[i * d + j] = s->half[i * D + j];
    congruent(d, s->V, s->C, s->half, s->bent);
    const double most = largest_eigenvalue(d, s->bent, s->inner);
    return isnan(most) ? most : fmax(end, most);
}

static void minimise_one(Stacked *s) {
    const StackSettings *set = s->set;
    const int D = s->D, d = D - 1;
    double mu = set->first;
    for (int step = 0; step < set->steps; step++) {
        weighted(s, s->x, s->total);
        if (!concave(s, s->total, s->bent, s->L)) {
            *s->refuted = *s->relaxed = 0; /* what was known is of other weights */
            return;
        }
        invert_lower(d, s->L, s->V);
        for (int i = 0; i < d; i++) s->scratch[i] = s->total[i * D + d];
        double value = s->total[D * D - 1], size = 0.0, largest = 0.0;
        for (int i = 0; i < d; i++) {
            s->bent[i] = dot(i + 1, s->V + i * d, s->scratch);
            value += s->bent[i] * s->bent[i];
        }
        for (int i = 0; i < d; i++) {
            s->z[i] = 0.0;
            for (int k = i; k < d; k++) s->z[i] += s->V[k * d + i] * s->bent[k];
        }
        for (int j = 0; j < s->m; j++) {
            size += s->x[j] * fabs(s->terms[(size_t)(j + 1) * D * D - 1]);
            largest = fmax(largest, s->x[j]);
        }
        *s->value = value;
        *s->refuted = value < -set->safety * (size + fabs(value));
        gram_of_lower(d, s->V, s->spread);
        for (int i = 0; i < d * d; i++) s->spread[i] *= mu;
        const int enough = largest > set->largest || !s->exactly || step >= set->more_steps;
        if (*s->refuted && enough) return;
        const int finite = localise(s, mu);
        int kept = !*s->refuted;
        for (int j = 0; j < s->m && kept; j++) kept = s->traces[j] >= 0;
        *s->relaxed = (unsigned char)kept;
        if (kept || !finite || largest > set->huge || !(mu > set->least)) return;
        if (!direction(s, mu)) return;
        const double end = nearest_end(s);
        if (isnan(end)) return;
        const double length = fmin(1.0, set->inner / fmax(end, 1e-12));
        for (int j = 0; j < s->m; j++) s->x[j] *= 1.0 + length * s->change[j];
        mu *= length > 0.5 ? set->shrink : length > 0.2 ? set->slower : 1.0;
    }
}

/* `from_scratch` for N problems; 0 where there is no memory. */
API int stack_minimise(int N, int m, int D, int n_margins, const double *terms, int exactly, const StackSettings *set,
                       double *weights, double *value, unsigned char *refuted, unsigned char *relaxed, double *z,
                       double *spread) {
    const int d = D - 1, q = D * (D + 1) / 2 - 1, size = D * D;
    Room room;
    if (!room_open(&room, (size_t)7 * size + (size_t)m * (size + 4 + q) + (size_t)2 * q * q + q + D)) return 0;
    Stacked s = {.m = m, .D = D, .n_margins = n_margins, .exactly = exactly, .set = set};
    s.total = room_for(&room, size), s.L = room_for(&room, size), s.V = room_for(&room, size);
    s.C = room_for(&room, size), s.half = room_for(&room, size), s.bent = room_for(&room, size + D);
    s.local = room_for(&room, (size_t)m * size), s.traces = room_for(&room, m), s.change = room_for(&room, m);
    s.right = room_for(&room, 2 * (size_t)m), s.U = room_for(&room, (size_t)m * q);
    s.inner = room_for(&room, (size_t)q * q), s.factor = room_for(&room, (size_t)q * q);
    s.scratch = room_for(&room, q + 1);
    for (int i = 0; i < N; i++) {
        s.terms = terms + (size_t)i * m * size, s.x = weights + (size_t)i * m, s.value = value + i;
        s.refuted = refuted + i, s.relaxed = relaxed + i;
        s.z = z + (size_t)i * d, s.spread = spread + (size_t)i * d * d;
        if (first_weights(&s)) minimise_one(&s);
    }
    free(room.start);
    return 1;
}

/* ------------------------- peak.py and frame.py: peaks of concave quadratics */

typedef struct {
    double excluded, doubtful, outside_ends, far, outside_ball, thin;
    int rounds, orthants, tangents;
} PeakSettings;

/* What is left of a column beside those that are taken, relative to it: less is rounding. The two ends of a direction
 * with one value are columns that depend on each other. */
#define DEPENDENT 3e-12

/* Non-negative least squares with columns that come and go, by Householder's reflections (Lawson and Hanson). */
typedef struct {
    int rows, columns, taken;
    double *E;        /* (columns, rows): one column after the other */
    double *Q;        /* (rows, rows): the columns that are taken, reflected; below the diagonal the reflectors */
    double *beta, *b; /* of the reflectors; the target, reflected */
    double *y, *w, *s;
    int *place, *in; /* which columns are taken, in their order; whether one is */
} Nnls;

static void reflect(int rows, const double *v, double beta, int from, double *x) {
    double sum = x[from];
    for (int i = from + 1; i < rows; i++) sum += v[i] * x[i];
    sum *= beta;
    x[from] -= sum;
    for (int i = from + 1; i < rows; i++) x[i] -= sum * v[i];
}

/* Reflect a column by those before it, and make its own reflector; 0 where it depends on them. */
static int take(Nnls *p, int column, int at) {
    const int rows = p->rows;
    double *q = p->Q + (size_t)at * rows;
    memcpy(q, p->E + (size_t)column * rows, sizeof(double) * rows);
    for (int k = 0; k < at; k++) reflect(rows, p->Q + (size_t)k * rows, p->beta[k], k, q);
    const double before = sqrt(dot(at, q, q)), size = sqrt(dot(rows - at, q + at, q + at));
    if (!(size > DEPENDENT * (before + size))) return 0;
    const double alpha = q[at] > 0 ? -size : size, head = q[at] - alpha;
    p->beta[at] = -head / alpha;
    for (int i = at + 1; i < rows; i++) q[i] /= head;
    q[at] = alpha;
    return 1;
}

static void reflect_target(Nnls *p) {
    memset(p->b, 0, sizeof(double) * p->rows);
    p->b[p->rows - 1] = 1.0;
    for (int k = 0; k < p->taken; k++) reflect(p->rows, p->Q + (size_t)k * p->rows, p->beta[k], k, p->b);
}

static void back_substitute(Nnls *p) {
    for (int i = p->taken - 1; i >= 0; i--) {
        double sum = p->b[i];
        for (int k = i + 1; k < p->taken; k++) sum -= p->Q[(size_t)k * p->rows + i] * p->s[k];
        p->s[i] = sum / p->Q[(size_t)i * p->rows + i];
    }
}

/* min |E y - (0, ..., 0, 1)| over y >= 0; 0 after too many rounds. */
static int nnls(Nnls *p, int most_rounds) {
    const int rows = p->rows;
    memset(p->y, 0, sizeof(double) * p->columns);
    memset(p->in, 0, sizeof(int) * p->columns);
    p->taken = 0;
    reflect_target(p);
    for (int round = 0; p->taken < rows;) {
        /* The residual in the columns' own coordinates. */
        double *left = p->w + p->columns;
        memset(left, 0, sizeof(double) * rows);
        memcpy(left + p->taken, p->b + p->taken, sizeof(double) * (rows - p->taken));
        for (int k = p->taken - 1; k >= 0; k--) reflect(rows, p->Q + (size_t)k * rows, p->beta[k], k, left);
        const double size = sqrt(dot(rows, left, left));
        for (int j = 0; j < p->columns; j++) {
            const double *e = p->E + (size_t)j * rows, along = p->in[j] ? 0.0 : dot(rows, e, left);
            p->w[j] = along > 0 && along > 1e-13 * size * sqrt(dot(rows, e, e)) ? along : 0.0;
        }
        int entered = 0;
        while (!entered) {
            int best = -1;
            for (int j = 0; j < p->columns; j++)
                if (p->w[j] > 0 && (best < 0 || p->w[j] > p->w[best])) best = j;
            if (best < 0) return 1;
            if (take(p, best, p->taken)) {
                /* Rounding may say uphill where it is not: then its own entry would be negative. */
                memcpy(left, p->b, sizeof(double) * rows);
                reflect(rows, p->Q + (size_t)p->taken * rows, p->beta[p->taken], p->taken, left);
                if (left[p->taken] / p->Q[(size_t)p->taken * rows + p->taken] > 0) {
                    memcpy(p->b, left, sizeof(double) * rows);
                    p->place[p->taken++] = best;
                    p->in[best] = 1;
                    entered = 1;
                    continue;
                }
            }
            p->w[best] = 0.0;
        }
        for (;;) {
            if (++round > most_rounds) return 0;
            back_substitute(p);
            double share = 2.0;
            for (int k = 0; k < p->taken; k++)
                if (!(p->s[k] > 0)) {
                    const double y = p->y[p->place[k]];
                    share = fmin(share, y / fmax(y - p->s[k], DBL_MIN));
                }
            if (share > 1.0) break;
            int kept = 0, first = -1;
            for (int k = 0; k < p->taken; k++) {
                const int j = p->place[k];
                p->y[j] += share * (p->s[k] - p->y[j]);
                if (!(p->s[k] > 0) && !(p->y[j] > 1e-15 * fabs(p->s[k]))) {
                    p->y[j] = 0.0;
                    p->in[j] = 0;
                    first = first < 0 ? k : first;
                } else
                    p->place[kept++] = j;
            }
            if (first < 0) return 0;
            for (int k = first; k < kept; k++)
                if (!take(p, p->place[k], k)) return 0;
            p->taken = kept;
            reflect_target(p);
        }
        for (int k = 0; k < p->taken; k++) p->y[p->place[k]] = p->s[k];
    }
    return 1;
}

/* What the peaks between many ends have in common. */
typedef struct {
    int n, m, k, norm; /* coordinates, directions, scenarios; 0 stands for the norm inf */
    const double *slopes, *inverse, *half;
    const double *columns;  /* (2 m + k, n): of upper ends, lower ends and scenarios */
    const double *apart, *contrast; /* (k), (k, n): by how much the scenarios differ from the base */
    const double *given;            /* what differs from peak to peak: see `frame_peak` */
    double *out;
    double round_weight;
} Posed;

typedef struct {
    double *u, *places, *prices, *paid, *shares, *push, *signs;
    double *value, *size, *missing, *pushed;
} PeakFound;

typedef struct {
    const Posed *posed;
    const PeakSettings *set;
    const double *slope; /* of the quadratic whose peak is looked for */
    double constant, level;
    double *limits, *held, *lacking, *prices, *left, *free;
    double *extra; /* the columns of planes around the ball, or of the norm's parts */
    const double **columns;
    int dim, count; /* how long columns are, and how many there are */
    unsigned char *stated, *told;
    int excluded;
    double missing;
    Nnls ls;
    int *kept; /* the ends that may have a price */
} Peaking;

/* Prices at the place nearest to `free` within ends; 0 where they could not be found, which is none at all. */
static int priced(Peaking *p, const double *ends) {
    const int n = p->dim, count = p->count;
    const PeakSettings *set = p->set;
    double most = -INFINITY, steep = 1e-300;
    memset(p->prices, 0, sizeof(double) * count);
    p->excluded = 0, p->missing = 0.0;
    for (int j = 0; j < count; j++) {
        const double *c = p->columns[j];
        p->lacking[j] = dot(n, c, p->free) - ends[j];
        most = fmax(most, p->lacking[j]);
        for (int i = 0; i < n; i++) steep = fmax(steep, fabs(c[i]));
    }
    if (!(most > 0)) return 1;
    const double unit = most / steep;
    Nnls *ls = &p->ls;
    ls->rows = n + 1, ls->columns = 0;
    for (int j = 0; j < count; j++) {
        if (!p->stated[j]) continue;
        double *e = ls->E + (size_t)ls->columns * (n + 1);
        const double *c = p->columns[j];
        for (int i = 0; i < n; i++) e[i] = -c[i];
        e[n] = fmax(p->lacking[j], -set->far * unit) / unit;
        p->kept[ls->columns++] = j;
    }
    if (!ls->columns) return 1;
    if (!nnls(ls, set->rounds * count)) return 0;
    double missing = 0.0;
    for (int j = 0; j < ls->columns; j++) missing += p->lacking[p->kept[j]] * ls->y[j];
    const double left = 1.0 - missing / unit, scale = unit / fmax(left, set->excluded);
    for (int j = 0; j < ls->columns; j++) p->prices[p->kept[j]] = ls->y[j] * scale;
    if (left < set->doubtful) {
        double beyond = -INFINITY;
        memset(p->left, 0, sizeof(double) * n);
        for (int j = 0; j < count; j++) {
            const double *c = p->columns[j];
            for (int i = 0; i < n; i++) p->left[i] += p->prices[j] * c[i];
        }
        for (int j = 0; j < count; j++) beyond = fmax(beyond, p->lacking[j] - dot(n, p->columns[j], p->left));
        if (left < set->excluded || beyond > set->outside_ends * most) {
            p->excluded = 1, p->missing = missing;
            for (int j = 0; j < ls->columns; j++) p->prices[p->kept[j]] = ls->y[j];
        }
    }
    return 1;
}

static double strength(const Posed *posed, const double *push) {
    double most = 0.0;
    if (posed->norm == 2) return sqrt(dot(posed->n, push, push));
    for (int i = 0; i < posed->n; i++) most = fmax(most, fabs(push[i]));
    return most;
}

/* Prices by what they belong to; the value anew, without the large numbers of a flat majorant. */
static void note_peak(Peaking *p, PeakFound *found) {
    const Posed *posed = p->posed;
    const int n = posed->n, m = posed->m, k = posed->k;
    double *left = p->left, more = 1.0, cost = 0.0, size = 0.0;
    *found->missing = 0.0;
    if (p->excluded) { /* prices may rise without end, and the peak is below anything */
        double peak = 0.0;
        for (int i = 0; i < n; i++) peak += p->slope[i] * dot(n, posed->inverse + (size_t)i * n, p->slope);
        *found->missing = 2 * (fabs(p->constant) + peak);
        more = *found->missing / fmax(p->missing, 1e-300);
    }
    memcpy(left, p->slope, sizeof(double) * n);
    for (int j = 0; j < 2 * m; j++) {
        found->paid[j] = more * p->prices[j];
        cost += found->paid[j] * p->limits[j];
        size += found->paid[j] * fabs(p->limits[j]);
    }
    for (int j = 0; j < m; j++) {
        const double price = found->prices[j] = found->paid[j] - found->paid[m + j];
        if (price != 0.0)
            for (int i = 0; i < n; i++) left[i] -= price * posed->slopes[(size_t)j * n + i];
    }
    for (int b = 0; b < k; b++) {
        found->shares[b] = more * p->prices[2 * m + b];
        cost += k > 1 ? found->shares[b] * p->limits[2 * m + b] : 0.0;
        for (int i = 0; k > 1 && i < n; i++) left[i] -= found->shares[b] * posed->contrast[(size_t)b * n + i];
    }
    if (*found->pushed > 0) {
        for (int i = 0; i < n; i++) {
            found->push[i] *= more;
            left[i] -= found->push[i];
        }
        cost += p->level * strength(posed, found->push);
    }
    for (int i = 0; i < n; i++) found->u[i] = 0.5 * dot(n, posed->inverse + (size_t)i * n, left);
    for (int j = 0; j < m; j++) found->places[j] = dot(n, posed->slopes + (size_t)j * n, found->u);
    const double round = posed->round_weight * p->level * p->level;
    *found->value = p->constant + round + cost + 0.5 * dot(n, left, found->u);
    *found->size = size + fabs(p->constant) + round;
}

/* half' v: what a slope is in the coordinates of the least squares. */
static void halved(const Posed *posed, const double *v, double *out) {
    memset(out, 0, sizeof(double) * posed->n);
    for (int i = 0; i < posed->n; i++)
        for (int j = 0; j < posed->n; j++) out[j] += v[i] * posed->half[(size_t)i * posed->n + j];
}

/* For p = 2: planes that touch the ball, until the peak is hardly outside. */
static int inside_ball(Peaking *p, PeakFound *found) {
    const Posed *posed = p->posed;
    const int n = posed->n, count = 2 * posed->m + posed->k;
    double *rays = p->extra + (size_t)n * p->set->tangents;
    for (int t = 0; t < p->set->tangents; t++) {
        const double size = sqrt(dot(n, found->u, found->u));
        if (*found->missing != 0.0 || size <= p->level * (1 + p->set->outside_ball)) break;
        double *ray = rays + (size_t)t * n;
        for (int i = 0; i < n; i++) ray[i] = found->u[i] / size;
        halved(posed, ray, p->extra + (size_t)t * n);
        p->columns[count + t] = p->extra + (size_t)t * n;
        p->held[count + t] = p->level, p->stated[count + t] = 1;
        p->count = count + t + 1;
        if (!priced(p, p->held)) return 0;
        memset(found->push, 0, sizeof(double) * n);
        for (int r = 0; r <= t; r++)
            for (int i = 0; i < n; i++) found->push[i] += p->prices[count + r] * rays[(size_t)r * n + i];
        *found->pushed = 1.0;
        note_peak(p, found);
    }
    return 1;
}

/* For p = 1 all orthants together: u_i <= r_i, -u_i <= r_i and sum r <= level, the r_i in units of their own. */
static int with_parts(Peaking *p, PeakFound *found) {
    const Posed *posed = p->posed;
    const int n = posed->n, count = 2 * posed->m + posed->k, dim = 2 * n;
    double most = 0.0;
    for (int i = 0; i < n * n; i++) most = fmax(most, fabs(posed->half[i]));
    const double unit = most / sqrt(p->set->thin);
    p->dim = dim, p->count = count + 2 * n + 1;
    memset(p->extra, 0, sizeof(double) * dim * p->count);
    memset(p->free + n, 0, sizeof(double) * n);
    for (int j = 0; j < p->count; j++) {
        double *c = p->extra + (size_t)j * dim;
        const int i = (j - count) % n, sign = j < count + n ? 1 : -1;
        if (j < count)
            memcpy(c, posed->columns + (size_t)j * n, sizeof(double) * n);
        else if (j < count + 2 * n) {
            for (int l = 0; l < n; l++) c[l] = sign * posed->half[(size_t)i * n + l];
            c[n + i] = -unit;
        } else
            for (int l = 0; l < n; l++) c[n + l] = unit;
        p->columns[j] = c;
        p->held[j] = j < count ? (p->told[j] ? p->limits[j] : 2 * p->level) : j < count + 2 * n ? 0.0 : p->level;
        p->stated[j] = 1;
    }
    if (!priced(p, p->held)) return 0;
    for (int i = 0; i < n; i++) found->push[i] = p->prices[count + i] - p->prices[count + n + i];
    *found->pushed = 1.0;
    note_peak(p, found);
    return 1;
}

/* For p = 1: the ball is one plane in each orthant; from one to the next while peaks rise. */
static int within_orthants(Peaking *p, PeakFound *found) {
    const Posed *posed = p->posed;
    const int n = posed->n, m = posed->m, count = 2 * m + posed->k;
    int outside = 0;
    for (int i = 0; i < n; i++) outside |= p->limits[i] < 0 || p->limits[m + i] < 0;
    for (int i = 0; outside && i < n; i++)
        if (p->limits[m + i] < 0)
            found->signs[i] = 1.0;
        else if (p->limits[i] < 0)
            found->signs[i] = -1.0;
    for (int j = 0; j < count; j++) p->told[j] = j >= 2 * m || p->limits[j] < p->level;
    p->columns[count] = p->extra, p->count = count + 1;
    for (int orthant = 0; orthant < p->set->orthants; orthant++) {
        for (int j = 0; j < count; j++) {
            p->held[j] = p->told[j] ? p->limits[j] : 2 * p->level;
            p->stated[j] = p->told[j];
        }
        p->held[count] = p->level, p->stated[count] = 1;
        for (int i = 0; i < n; i++) {
            const int edge = i + (found->signs[i] > 0 ? m : 0);
            p->held[edge] = fmin(p->limits[edge], 0.0), p->stated[edge] = 1;
        }
        halved(posed, found->signs, p->extra);
        if (!priced(p, p->held)) return 0;
        const double price = p->prices[count];
        int beyond = 0;
        for (int i = 0; i < n; i++) {
            const int edge = i + (found->signs[i] > 0 ? m : 0);
            const double at_zero = p->limits[edge] > 0 ? p->prices[edge] : 0.0;
            p->left[i] = at_zero;
            beyond |= at_zero > 2 * price * (1 + 1e-9);
        }
        if (!beyond) {
            for (int i = 0; i < n; i++) {
                p->prices[i + (found->signs[i] > 0 ? m : 0)] -= p->left[i];
                found->push[i] = found->signs[i] * (price - p->left[i]);
            }
            *found->pushed = 1.0;
            note_peak(p, found);
            return 1;
        }
        if (p->excluded) break;
        for (int i = 0; i < n; i++)
            if (p->left[i] > 2 * price * (1 + 1e-9)) found->signs[i] = -found->signs[i];
    }
    return with_parts(p, found);
}

/* `Frame.peak`; 0 where its Python form has to look.
 *
 * Given are the lower and upper ends (m each), the slope, the signs of the orthant (n each), constant and level.
 * Out come u (n), places, prices (m each), paid (2 m), shares (k), push, signs (n each), and value, size, missing
 * and whether there is a push. */
API int frame_peak(const Posed *posed, const PeakSettings *set) {
    const int n = posed->n, m = posed->m, k = posed->k, dim = posed->norm == 1 ? 2 * n : n;
    const int more = posed->norm == 1 ? 2 * n + 1 : posed->norm == 2 ? set->tangents : 0, most = 2 * m + k + more;
    double *out = posed->out, *ends = out + 3 * (size_t)n + 4 * (size_t)m + k;
    memcpy(ends - n, posed->given + 2 * (size_t)m + n, sizeof(double) * n); /* the signs, whatever happens */
    Room room;
    const size_t whole = (size_t)most / 2 + 2; /* doubles that hold as many ints */
    const size_t extra = posed->norm == 1 ? (size_t)most * dim : (size_t)2 * n * more;
    if (!room_open(&room, (size_t)most * (dim + 9) + (size_t)(dim + 1) * (dim + 5) + extra + 4 * whole + 2 * dim))
        return 0;
    const double *low = posed->given, *high = low + m, *slope = high + m, *last = slope + 2 * n;
    Peaking p = {.posed = posed, .set = set, .slope = slope, .constant = last[0], .level = last[1]};
    p.dim = n, p.count = 2 * m + k;
    p.limits = room_for(&room, most), p.held = room_for(&room, most), p.lacking = room_for(&room, most);
    p.prices = room_for(&room, most), p.left = room_for(&room, dim), p.free = room_for(&room, dim);
    p.extra = room_for(&room, extra), p.columns = (const double **)room_for(&room, most);
    p.ls.E = room_for(&room, (size_t)most * (dim + 1)), p.ls.Q = room_for(&room, (size_t)(dim + 1) * (dim + 1));
    p.ls.beta = room_for(&room, dim + 1), p.ls.b = room_for(&room, dim + 1), p.ls.y = room_for(&room, most);
    p.ls.w = room_for(&room, (size_t)most + dim + 1), p.ls.s = room_for(&room, dim + 1);
    p.ls.place = (int *)room_for(&room, whole), p.ls.in = (int *)room_for(&room, whole);
    p.kept = (int *)room_for(&room, whole);
    p.stated = (unsigned char *)room_for(&room, whole), p.told = p.stated + most;
    for (int j = 0; j < 2 * m + k; j++) p.columns[j] = posed->columns + (size_t)j * n;
    PeakFound found = {.u = out, .places = out + n, .prices = out + n + m, .paid = out + n + 2 * m,
                       .shares = out + n + 4 * m, .push = out + n + 4 * m + k, .signs = ends - n,
                       .value = ends, .size = ends + 1, .missing = ends + 2, .pushed = ends + 3};
    *found.pushed = 0.0;
    for (int j = 0; j < m; j++) p.limits[j] = high[j], p.limits[m + j] = -low[j];
    for (int b = 0; b < k; b++) p.limits[2 * m + b] = posed->apart[b];
    halved(posed, slope, p.free);
    int fine;
    if (posed->norm == 1)
        fine = within_orthants(&p, &found);
    else {
        memset(p.stated, 1, most);
        fine = priced(&p, p.limits);
        if (fine) note_peak(&p, &found);
        if (fine && posed->norm == 2) {
            memcpy(p.held, p.limits, sizeof(double) * (2 * (size_t)m + k));
            fine = inside_ball(&p, &found);
        }
    }
    free(room.start);
    return fine && isfinite(*found.value);
}

/* --------------------------------- majorant.py: concave quadratics above a margin */

typedef struct {
    int n, m, k; /* coordinates, weights, rows */
    const double *rows, *Q;
    const int *owner;
    double *K, *L, *V, *inverse, *half, *P, *hessian, *factor, *step, *moved;
} Bending;

/* inverse(sum of the weighted rows - Q); 0 where that is not definite. */
static int bent_inverse(Bending *b, const double *w) {
    const int n = b->n;
    for (int i = 0; i < n * n; i++) b->K[i] = -b->Q[i];
    for (int r = 0; r < b->k; r++) {
        const double weight = w[b->owner[r]], *row = b->rows + (size_t)r * n;
        for (int i = 0; i < n; i++) {
            const double a = weight * row[i];
            if (a != 0.0)
                for (int j = 0; j < n; j++) b->K[i * n + j] += a * row[j];
        }
    }
    if (!cholesky(n, b->K, b->L, 0.0)) return 0;
    invert_lower(n, b->L, b->V);
    gram_of_lower(n, b->V, b->K);
    return 1;
}

/* One step on costs'w / mu - log det K - sum log w, shortened until K is definite; its length, 0 if there is none. */
static double newton(Bending *b, const double *costs, double mu, double *w) {
    const int n = b->n, m = b->m, k = b->k;
    times(k, n, n, b->rows, b->inverse, b->half);
    times_transposed(k, n, k, b->half, b->rows, b->P);
    memset(b->hessian, 0, sizeof(double) * m * m);
    for (int j = 0; j < m; j++) b->step[j] = 1.0 / w[j] - costs[j] / mu;
    for (int r = 0; r < k; r++) {
        double *row = b->hessian + (size_t)b->owner[r] * m;
        b->step[b->owner[r]] += b->P[(size_t)r * k + r];
        for (int s = 0; s < k; s++) row[b->owner[s]] += b->P[(size_t)r * k + s] * b->P[(size_t)r * k + s];
    }
    for (int j = 0; j < m; j++) b->hessian[(size_t)j * m + j] += 1.0 / (w[j] * w[j]);
    if (!cholesky(m, b->hessian, b->factor, 0.0)) return 0.0;
    solve_factored(m, b->factor, b->step);
    double end = 1e-300;
    for (int j = 0; j < m; j++) end = fmax(end, -b->step[j] / w[j]);
    for (double length = fmin(1.0, 0.9 / end); length > 1e-6; length *= 0.5) {
        for (int j = 0; j < m; j++) b->moved[j] = w[j] + length * b->step[j];
        if (bent_inverse(b, b->moved)) {
            memcpy(w, b->moved, sizeof(double) * m);
            memcpy(b->inverse, b->K, sizeof(double) * n * n);
            return length;
        }
    }
    return 0.0;
}

/* Steps along the central path from weights w with barrier mu; until the cost is within a share `close` of the
 * least where `stop`, and `steps` of them at most. */
API int cheaper_weights(int n, int m, int k, const double *rows, const int *owner, const double *costs,
                        const double *Q, double mu, int steps, double shrink, double close, int stop, double *w) {
    Room room;
    if (!room_open(&room, (size_t)6 * n * n + (size_t)k * (n + k) + (size_t)2 * m * m + (size_t)2 * m)) return 0;
    Bending b = {.n = n, .m = m, .k = k, .rows = rows, .Q = Q, .owner = owner};
    b.K = room_for(&room, (size_t)n * n), b.L = room_for(&room, (size_t)n * n), b.V = room_for(&room, (size_t)n * n);
    b.inverse = room_for(&room, (size_t)n * n), b.half = room_for(&room, (size_t)k * n);
    b.P = room_for(&room, (size_t)k * k), b.hessian = room_for(&room, (size_t)m * m);
    b.factor = room_for(&room, (size_t)m * m), b.step = room_for(&room, m), b.moved = room_for(&room, m);
    int fine = bent_inverse(&b, w);
    if (fine) memcpy(b.inverse, b.K, sizeof(double) * n * n);
    for (int taken = 0; fine && taken < steps; taken++) {
        const double length = newton(&b, costs, mu, w);
        if (length == 0.0) break;
        if (length > 0.3) {
            const double cost = dot(m, costs, w);
            if (stop && mu * (n + m) < close * cost) break;
            mu = fmax(shrink * mu, 0.2 * close * cost / (n + m));
        }
    }
    free(room.start);
    return 1;
}

/* ------------------------------------------ interior.py: one region's multipliers */

typedef struct {
    int D, n, m, M, c, p, kinds, n_margins; /* M: one row more, the constant -1; p: what must stay positive */
    const double *left, *right, *curvatures;
    const int *kind;
    double *x, s, eta, *w, *Z, *L, *V, *W, *Y;
    double residual_margins, residual_rest;
    double *xi, *S, *factor, *chosen, *toward, *target, *dx, *dxi, *dw, *dZ, *dY, *bend, *N, *a, *b, *e;
    double *LY, *RY, *LW, *RW, *bent, *each_other;
} Interior;

/* sum_j x_j A_j; with `lowered` over one more row, the constant -1. */
static void sum_of_rows(const Interior *t, const double *x, int lowered, double *total) {
    const int D = t->D, n = t->n;
    memset(total, 0, sizeof(double) * D * D);
    for (int j = 0; j < t->m; j++) {
        const double *left = t->left + (size_t)j * D, *right = t->right + (size_t)j * D;
        for (int i = 0; i < D; i++) {
            const double a = 0.5 * x[j] * left[i];
            if (a != 0.0)
                for (int k = 0; k < D; k++) total[(size_t)i * D + k] += a * right[k];
        }
    }
    for (int i = 0; i < D; i++)
        for (int k = 0; k <= i; k++)
            total[(size_t)i * D + k] = total[(size_t)k * D + i] = total[(size_t)i * D + k] + total[(size_t)k * D + i];
    for (int l = 0; l < t->kinds; l++) {
        double weight = 0.0;
        for (int j = 0; j < t->m; j++) weight += t->kind[j] == l ? x[j] : 0.0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                total[(size_t)i * D + k] += weight * t->curvatures[((size_t)l * n + i) * n + k];
    }
    if (lowered) total[(size_t)D * D - 1] -= x[t->m];
}

/* tr(A_j N) for every row, the constant -1 among them. */
static void products_with(const Interior *t, const double *N, double *out) {
    const int D = t->D, n = t->n;
    for (int j = 0; j < t->m; j++) {
        const double *left = t->left + (size_t)j * D, *right = t->right + (size_t)j * D;
        double sum = 0.0;
        for (int i = 0; i < D; i++)
            if (left[i] != 0.0) sum += left[i] * dot(D, N + (size_t)i * D, right);
        out[j] = sum;
    }
    for (int l = 0; l < t->kinds; l++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += dot(n, t->curvatures + ((size_t)l * n + i) * n, N + (size_t)i * D);
        for (int j = 0; j < t->m; j++) out[j] += t->kind[j] == l ? sum : 0.0;
    }
    out[t->m] = -N[(size_t)D * D - 1];
}

/* G x: what must stay positive. */
static void slacks(const Interior *t, const double *x, double *out) {
    const int c = t->c, rest = t->m - 1 - c;
    if (!c) {
        memcpy(out, x, sizeof(double) * t->m);
        return;
    }
    out[0] = x[0];
    memcpy(out + 1, x + 1 + c, sizeof(double) * rest);
    for (int i = 0; i < c; i++) {
        out[1 + rest + i] = x[0] - x[1 + i];
        out[1 + rest + c + i] = x[0] + x[1 + i];
    }
}

/* Adds G'w. */
static void add_slacks_transposed(const Interior *t, const double *w, double *out) {
    const int c = t->c, rest = t->m - 1 - c;
    if (!c) {
        for (int j = 0; j < t->m; j++) out[j] += w[j];
        return;
    }
    out[0] += w[0];
    for (int i = 0; i < rest; i++) out[1 + c + i] += w[1 + i];
    for (int i = 0; i < c; i++) {
        const double below = w[1 + rest + i], above = w[1 + rest + c + i];
        out[0] += below + above;
        out[1 + i] += above - below;
    }
}

/* tr(A_i Y A_j W), symmetrised, plus G' diag(w / xi) G: the system of one step. Its lower half. */
static void fill_system(Interior *t) {
    const int D = t->D, n = t->n, m = t->m, M = t->M, K = t->kinds;
    times(m, D, D, t->left, t->Y, t->LY), times(m, D, D, t->right, t->Y, t->RY);
    times(m, D, D, t->left, t->W, t->LW), times(m, D, D, t->right, t->W, t->RW);
    /* The constant -1: left e, right -e. */
    for (int i = 0; i < D; i++) {
        t->LY[(size_t)m * D + i] = t->Y[(size_t)n * D + i], t->RY[(size_t)m * D + i] = -t->Y[(size_t)n * D + i];
        t->LW[(size_t)m * D + i] = t->W[(size_t)n * D + i], t->RW[(size_t)m * D + i] = -t->W[(size_t)n * D + i];
    }
    for (int j = 0; j < m; j++) {
        const double *L = t->left + (size_t)j * D, *R = t->right + (size_t)j * D;
        const double *LYj = t->LY + (size_t)j * D, *RWj = t->RW + (size_t)j * D;
        for (int i = j; i < M; i++) {
            const double *LY = t->LY + (size_t)i * D, *RY = t->RY + (size_t)i * D;
            const double *LW = t->LW + (size_t)i * D, *RW = t->RW + (size_t)i * D;
            double ly_r = 0, rw_l = 0, ry_r = 0, lw_l = 0, ly_l = 0, rw_r = 0, back_ly = 0, back_rw = 0;
            for (int k = 0; k < D; k++) {
                ly_r += LY[k] * R[k], rw_l += RW[k] * L[k], ry_r += RY[k] * R[k];
                lw_l += LW[k] * L[k], ly_l += LY[k] * L[k], rw_r += RW[k] * R[k];
            }
            if (i < m) {
                const double *Li = t->left + (size_t)i * D, *Ri = t->right + (size_t)i * D;
                for (int k = 0; k < D; k++) back_ly += LYj[k] * Ri[k], back_rw += RWj[k] * Li[k];
            } else
                back_ly = -LYj[n], back_rw = RWj[n];
            t->S[(size_t)i * M + j] = 0.25 * (ly_r * rw_l + back_ly * back_rw + ry_r * lw_l + ly_l * rw_r);
        }
    }
    t->S[(size_t)m * M + m] = t->Y[(size_t)D * D - 1] * t->W[(size_t)D * D - 1];
    for (int l = 0; l < K; l++) {
        const double *C = t->curvatures + (size_t)l * n * n;
        for (int j = 0; j < M; j++) {
            double sum = 0.0;
            for (int i = 0; i < n; i++) {
                sum += t->LY[(size_t)j * D + i] * dot(n, C + (size_t)i * n, t->RW + (size_t)j * D);
                sum += t->LW[(size_t)j * D + i] * dot(n, C + (size_t)i * n, t->RY + (size_t)j * D);
            }
            t->bent[(size_t)l * M + j] = 0.5 * sum;
        }
        for (int o = 0; o <= l; o++) { /* tr(C_l Y C_o W) */
            const double *B = t->curvatures + (size_t)o * n * n;
            double sum = 0.0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double cy = 0.0, bw = 0.0;
                    for (int k = 0; k < n; k++) {
                        cy += C[(size_t)i * n + k] * t->Y[(size_t)k * D + j];
                        bw += B[(size_t)j * n + k] * t->W[(size_t)k * D + i];
                    }
                    sum += cy * bw;
                }
            t->each_other[(size_t)l * K + o] = t->each_other[(size_t)o * K + l] = 0.5 * sum;
        }
    }
    for (int j = 0; j < m; j++)
        for (int i = j; i < M; i++) {
            const int ki = i < m ? t->kind[i] : -1, kj = t->kind[j];
            double *entry = t->S + (size_t)i * M + j;
            if (ki >= 0) *entry += t->bent[(size_t)ki * M + j] + (kj >= 0 ? t->each_other[(size_t)ki * K + kj] : 0.0);
            if (kj >= 0) *entry += t->bent[(size_t)kj * M + i] + (ki >= 0 ? t->each_other[(size_t)kj * K + ki] : 0.0);
        }
    const int c = t->c, rest = m - 1 - c;
    for (int j = 0; j < (c ? 1 + rest : m); j++) {
        const int at = c && j ? c + j : j;
        t->S[(size_t)at * M + at] += t->w[j] / t->xi[j];
    }
    for (int i = 0; i < c; i++) {
        const double below = t->w[1 + rest + i] / t->xi[1 + rest + i];
        const double above = t->w[1 + rest + c + i] / t->xi[1 + rest + c + i];
        t->S[0] += below + above;
        t->S[(size_t)(1 + i) * M + 1 + i] += below + above;
        t->S[(size_t)(1 + i) * M] += above - below;
    }
    for (int i = 0; i < M; i++) t->S[(size_t)i * M + i] *= 1 + 1e-13;
}

/* How far one may go until an entry vanishes. */
static double ratio(int size, const double *value, const double *change) {
    double least = INFINITY;
    for (int i = 0; i < size; i++) {
        const double fraction = change[i] / value[i];
        least = fmin(least, fraction); /* of what is not a number nothing is known */
    }
    return least < 0 ? -1.0 / least : INFINITY;
}

/* A rough guess of how far one may go, for the predictor. */
static double pace(Interior *t, const double *matrix, const double *change, double limit) {
    const int size = t->D * t->D;
    double length = fmin(1.0, limit);
    for (int tries = 0; tries < 8; tries++) {
        for (int i = 0; i < size; i++) t->a[i] = matrix[i] + length * change[i];
        if (cholesky(t->D, t->a, t->b, 0.0)) return length;
        length *= 0.7;
    }
    return length;
}

/* How far one may go from inverse(V) inverse(V)' until it is singular. */
static double reach(Interior *t, const double *V, const double *change) {
    const int D = t->D;
    congruent(D, V, change, t->a, t->b);
    for (int i = 0; i < D * D; i++) t->b[i] = -t->b[i];
    const double most = largest_eigenvalue(D, t->b, t->e);
    if (isnan(most)) return 0.0;
    return most > 0 ? 1.0 / most : INFINITY;
}

/* Solves the system for `target` into dx, its last entry the change of s; returns the next eta. */
static double solve_system(Interior *t, double weight) {
    memcpy(t->dx, t->target, sizeof(double) * t->M);
    solve_factored(t->M, t->factor, t->dx);
    const double eta = -dot(t->M, t->chosen, t->dx) / weight;
    for (int j = 0; j < t->M; j++) t->dx[j] += eta * t->toward[j];
    return eta;
}

/* The other changes that go with dx; with the second order's part where `aim` is given. */
static void directions(Interior *t, double aim, int second) {
    const int D = t->D, size = D * D;
    sum_of_rows(t, t->dx, 1, t->dZ);
    for (int i = 0; i < size; i++) t->dZ[i] = -t->dZ[i];
    slacks(t, t->dx, t->dxi);
    times(D, D, D, t->Y, t->dZ, t->a);
    times(D, D, D, t->a, t->W, t->b);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            t->dY[(size_t)i * D + j] = -t->Y[(size_t)i * D + j] - 0.5 * (t->b[(size_t)i * D + j] + t->b[(size_t)j * D + i]);
    for (int i = 0; i < t->p; i++) t->dw[i] = -t->w[i] - t->w[i] / t->xi[i] * t->dxi[i];
    if (!second) return;
    for (int i = 0; i < size; i++) t->dY[i] += aim * t->W[i] - t->N[i];
    for (int i = 0; i < t->p; i++) t->dw[i] += aim / t->xi[i] - t->bend[i];
}

static int all_finite(int size, const double *values) {
    double sum = 0.0;
    for (int i = 0; i < size; i++) sum += values[i];
    return isfinite(sum);
}

/* W = inverse(L L'). */
static void invert_factor(Interior *t) {
    invert_lower(t->D, t->L, t->V);
    gram_of_lower(t->D, t->V, t->W);
}

/* One predictor-corrector step; 0 where rounding leaves no way on. */
static int advance(Interior *t) {
    const int D = t->D, M = t->M, size = D * D;
    slacks(t, t->x, t->xi);
    for (int i = 0; i < t->p; i++)
        if (!(t->xi[i] > 0)) return 0;
    const double mu = (dot(size, t->Y, t->Z) + dot(t->p, t->w, t->xi)) / (D + t->p);
    fill_system(t);
    if (!cholesky(M, t->S, t->factor, 0.0)) return 0;
    memcpy(t->toward, t->chosen, sizeof(double) * M);
    solve_factored(M, t->factor, t->toward);
    const double weight = dot(M, t->chosen, t->toward);
    memset(t->target, 0, sizeof(double) * M);
    t->target[M - 1] = -1.0;
    solve_system(t, weight);
    directions(t, 0.0, 0);
    double length = pace(t, t->Z, t->dZ, ratio(t->p, t->xi, t->dxi));
    length = fmin(length, pace(t, t->Y, t->dY, ratio(t->p, t->w, t->dw)));
    const double sigma = length > 0.2 ? pow(1 - length, 3) : 0.8, aim = fmax(sigma, 1e-4) * mu;
    for (int i = 0; i < t->p; i++) t->bend[i] = t->dw[i] * t->dxi[i] / t->xi[i];
    times(D, D, D, t->dY, t->dZ, t->a);
    times(D, D, D, t->a, t->W, t->b);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            t->N[(size_t)i * D + j] = 0.5 * (t->b[(size_t)i * D + j] + t->b[(size_t)j * D + i]);
            t->a[(size_t)i * D + j] = t->N[(size_t)i * D + j] - aim * t->W[(size_t)i * D + j];
        }
    products_with(t, t->a, t->dx);
    for (int j = 0; j < M; j++) t->target[j] += t->dx[j];
    for (int i = 0; i < t->p; i++) t->dw[i] = aim / t->xi[i] - t->bend[i];
    add_slacks_transposed(t, t->dw, t->target);
    const double eta = solve_system(t, weight);
    directions(t, aim, 1);
    if (!all_finite(size, t->dZ) || !all_finite(size, t->dY)) return 0;
    const double dual = fmin(fmin(0.95 * ratio(t->p, t->xi, t->dxi), 0.95 * reach(t, t->V, t->dZ)), 1.0);
    double primal = 0.0;
    if (cholesky(D, t->Y, t->a, 0.0)) {
        invert_lower(D, t->a, t->N); /* N is done with */
        primal = fmin(fmin(0.95 * ratio(t->p, t->w, t->dw), 0.95 * reach(t, t->N, t->dY)), 1.0);
    }
    if (!(fmax(dual, primal) >= 1e-7)) return 0;
    for (int j = 0; j < t->m; j++) t->target[j] = t->x[j] + dual * t->dx[j];
    const double s = t->s + dual * t->dx[t->m];
    sum_of_rows(t, t->target, 0, t->a);
    for (int i = 0; i < size; i++) t->N[i] = -t->a[i];
    t->N[size - 1] += s;
    if (!cholesky(D, t->N, t->L, 0.0)) return 0;
    memcpy(t->x, t->target, sizeof(double) * t->m);
    memcpy(t->Z, t->N, sizeof(double) * size);
    t->s = s;
    invert_factor(t);
    for (int i = 0; i < size; i++) t->Y[i] += primal * t->dY[i];
    for (int i = 0; i < t->p; i++) t->w[i] += primal * t->dw[i];
    t->eta += primal * (eta - t->eta);
    t->residual_margins *= 1 - primal, t->residual_rest *= 1 - primal;
    return 1;
}

/* From multipliers for which F is strictly concave; 0 where they are not, or nothing is left beside their peak. */
static int begin(Interior *t, const double *heights) {
    const int D = t->D, n = t->n, m = t->m;
    double largest = 0.0;
    sum_of_rows(t, t->x, 0, t->Z);
    for (int i = 0; i < D * D; i++) t->Z[i] = -t->Z[i];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) t->a[(size_t)i * n + j] = t->Z[(size_t)i * D + j];
        t->e[i] = t->Z[(size_t)i * D + n];
    }
    if (!cholesky(n, t->a, t->b, 0.0)) return 0;
    solve_lower(n, t->b, t->e);
    const double peak = dot(n, t->e, t->e) - t->Z[(size_t)D * D - 1];
    for (int j = 0; j < m; j++) largest = fmax(largest, fabs(t->x[j]));
    t->s = peak + fmax(fabs(peak), 1e-9 * largest);
    t->Z[(size_t)D * D - 1] += t->s;
    if (!cholesky(D, t->Z, t->L, 0.0)) return 0;
    invert_factor(t);
    for (int j = 0; j < t->M; j++) t->chosen[j] = j < m && j >= m - t->n_margins ? 1.0 : 0.0;
    const double mu = 1.0 / t->W[(size_t)D * D - 1];
    for (int i = 0; i < D * D; i++) t->Y[i] = mu * t->W[i];
    slacks(t, t->x, t->w);
    for (int i = 0; i < t->p; i++) t->w[i] = mu / t->w[i];
    t->eta = t->s - mu * (D + t->p);
    products_with(t, t->Y, t->target);
    memset(t->toward, 0, sizeof(double) * t->M);
    add_slacks_transposed(t, t->w, t->toward);
    for (int j = 0; j < m; j++) {
        const double gap = fabs(t->target[j] - t->eta * t->chosen[j] - t->toward[j]);
        if (t->chosen[j] > 0)
            t->residual_margins = fmax(t->residual_margins, gap);
        else
            t->residual_rest = fmax(t->residual_rest, gap / fmax(heights[j], 1e-300));
    }
    return 1;
}

/* `interior.minimise`; 0 where it cannot begin. Out come x, the moments Y, and value, whether it is negative, and the
 * number of steps. */
API int interior_minimise(int D, int m, int n_margins, int n_cross, int kinds, const double *left, const double *right,
                          const double *curvatures, const int *kind, const double *heights, double share,
                          double least, double safety, int most_steps, double *x, double *Y, double *out) {
    Interior t = {.D = D, .n = D - 1, .m = m, .M = m + 1, .c = n_cross, .p = m + n_cross, .kinds = kinds};
    const size_t size = (size_t)D * D, M = m + 1, p = m + n_cross;
    Room room;
    if (!room_open(&room, 9 * size + 2 * M * M + 4 * M * (D + 1) + M * (4 + kinds) + 6 * p + (size_t)kinds * kinds +
                              3 * (size_t)D + M))
        return 0;
    t.n_margins = n_margins, t.left = left, t.right = right, t.curvatures = curvatures, t.kind = kind;
    t.x = x, t.Y = Y;
    t.Z = room_for(&room, size), t.L = room_for(&room, size), t.V = room_for(&room, size), t.W = room_for(&room, size);
    t.dZ = room_for(&room, size), t.dY = room_for(&room, size), t.N = room_for(&room, size);
    t.a = room_for(&room, size), t.b = room_for(&room, size), t.e = room_for(&room, 3 * (size_t)D);
    t.S = room_for(&room, M * M), t.factor = room_for(&room, M * M);
    t.LY = room_for(&room, M * D), t.RY = room_for(&room, M * D), t.LW = room_for(&room, M * D);
    t.RW = room_for(&room, M * D), t.bent = room_for(&room, M * kinds);
    t.each_other = room_for(&room, (size_t)kinds * kinds);
    t.chosen = room_for(&room, M), t.toward = room_for(&room, M), t.target = room_for(&room, M);
    t.dx = room_for(&room, M), t.w = room_for(&room, p), t.xi = room_for(&room, p), t.dxi = room_for(&room, p);
    t.dw = room_for(&room, p), t.bend = room_for(&room, p);
    const int begun = begin(&t, heights);
    int steps = 0;
    const double vague = share > 1 ? INFINITY : 0.2;
    while (begun) {
        double added = 0.0;
        for (int j = 0; j < m; j++) added += fabs(x[j] * left[(size_t)(j + 1) * D - 1] * right[(size_t)(j + 1) * D - 1]);
        out[0] = t.s - 1.0 / t.W[size - 1];
        out[1] = out[0] < -safety * (added + fabs(out[0]));
        out[2] = steps;
        if (steps == most_steps) break;
        steps++;
        out[2] = steps;
        const double gap = t.s - t.eta;
        const double error = fmax(t.residual_margins / fmax(fabs(t.eta), 1e-300), t.residual_rest);
        const int feasible = error < 0.1 * fmin(1.0, vague * gap / fabs(t.eta));
        if (out[1] != 0.0 || (feasible && (gap < least || (0 < gap && gap < share * t.eta)))) break;
        if (!advance(&t)) break;
    }
    free(room.start);
    return begun;
}
