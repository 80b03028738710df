# SPDX-License-Identifier: Apache-2.0
"""
C of robots under the sanitizers of gcc: wrong addresses, undefined behaviour, races.

The C around the machine code is instrumented; machine code itself is not, so all its arguments end
at a page that nobody may touch. What `export_c` writes is C throughout.
"""

import subprocess

import numpy as np

ADDRESS, THREAD = 'address,undefined,float-cast-overflow', 'thread'
OPTIONS = ['-std=gnu11', '-g', '-O1', '-fno-omit-frame-pointer', '-fno-sanitize-recover=all']
THREADS = 4
HEAD = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define PAGE 4096
static double *guarded(size_t count) { /* ends where nobody may read or write */
  size_t size = count * sizeof(double), room = (size + PAGE - 1) / PAGE * PAGE;
  char *base = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base + room, PAGE, PROT_NONE)) exit(4);
  return (double *)(base + room - size);
}
static double *states;
static size_t count;
"""
LIBRARY = r"""
#include "@NAME@.h"
static void *work(void *result) {
  double *out = result, *last = out;
@ARRAYS@
  for (size_t k = 0; k < count; k++) {
    const double *x = states + k * @WIDTH@;
@CALLS@
  }
  return last;
}
int main(void) {
  if (@UPPER@_CHECK()) return 7; /* before any array is made */
  pthread_t threads[@THREADS@];
  double *results[@THREADS@], *room = malloc(1 << 24);
  count = fread(room, sizeof(double) * @WIDTH@, (1 << 24) / (sizeof(double) * @WIDTH@), stdin);
  states = room;
  for (int k = 0; k < @THREADS@; k++) {
    results[k] = calloc(count * @RESULTS@, sizeof(double));
    if (pthread_create(&threads[k], NULL, work, results[k])) return 5;
  }
  for (int k = 0; k < @THREADS@; k++) pthread_join(threads[k], NULL);
  for (int k = 1; k < @THREADS@; k++)
    if (memcmp(results[0], results[k], count * @RESULTS@ * sizeof(double))) return 6;
  fwrite(results[0], sizeof(double), count * @RESULTS@, stdout);
  for (int k = 0; k < @THREADS@; k++) free(results[k]);
  free(room);
  return 0;
}
"""
EXPORTED = r"""
#include "@NAME@.h"
int main(void) {
  casadi_int arg, res, iw, w;
  @NAME@_work(&arg, &res, &iw, &w);
  const double **in = calloc(arg, sizeof *in);
  double **out = calloc(res, sizeof *out), *room = malloc(w * sizeof *room);
  casadi_int *more = malloc(iw * sizeof *more);
  for (casadi_int k = 0; k < @NAME@_n_out(); k++) {
    const casadi_int *shape = @NAME@_sparsity_out(k);
    out[k] = guarded(shape[0] * shape[1]);
  }
  double x[@WIDTH@];
  do { /* at first without arguments, which are zeros then */
    if (@NAME@(in, out, more, room, 0)) return 3;
    const double *next = x;
    for (casadi_int k = 0; k < @NAME@_n_in(); k++) {
      size_t size = @NAME@_sparsity_in(k)[0];
      double *copy = in[k] ? (double *)in[k] : guarded(size);
      memcpy(copy, next, size * sizeof(double));
      in[k] = copy;
      next += size;
    }
  } while (fread(x, sizeof x, 1, stdin) == 1);
  double *gone = out[0];
  out[0] = NULL; /* what is not wanted */
  if (@NAME@(in, out, more, room, 0)) return 3;
  fwrite(gone, sizeof(double), 1, stdout);
  free(in), free(out), free(room), free(more);
  return 0;
}
"""


def hard_states(width, count=50):
    """Return ordinary numbers, and those that break programs, shape (n, width)."""
    rng = np.random.default_rng(14)
    states = rng.uniform(-2.0, 2.0, (count, width))
    for value in (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 1e14, -0.0):
        one = states[0].copy()
        one[rng.integers(width)] = value
        states = np.vstack([states, np.full(width, value), one])
    return states


def _filled(text, **values):
    for name, value in values.items():
        text = text.replace(f'@{name}@', str(value))
    return text


def library_driver(name, functions, threads=THREADS):
    """
    Return a C program that calls all functions of a library from several threads.

    Parameters
    ----------
    name : str
        Of the library.
    functions : dict
        Names to inputs and outputs with their sizes and shapes, as in the loader.

    """
    arrays, calls, results = [], [], 0
    width = max(sum(size for _, size in inputs) for inputs, _ in functions.values())
    for k, (function, (inputs, outputs)) in enumerate(functions.items()):
        made = [(f'i{k}_{n}', size) for n, (_, size) in enumerate(inputs)]
        said = [(f'o{k}_{n}', int(np.prod(shape))) for n, (_, shape) in enumerate(outputs)]
        arrays += [f'  double *{label} = guarded({size});' for label, size in (*made, *said)]
        offset = 0
        for label, size in made:
            calls.append(f'    memcpy({label}, x + {offset}, {size} * sizeof(double));')
            offset += size
        passed = ', '.join([*(n for n, _ in made), 'NULL', *(n for n, _ in said)])
        calls.append(f'    *last++ = {name}_{function}({passed});')
        for label, size in said:
            calls.append(f'    memcpy(last, {label}, {size} * sizeof(double)); last += {size};')
        results += 1 + sum(size for _, size in said)
    values = {'ARRAYS': '\n'.join(arrays), 'CALLS': '\n'.join(calls), 'RESULTS': results}
    values['UPPER'] = name.upper()
    text = _filled(HEAD + LIBRARY, NAME=name, WIDTH=width, THREADS=threads, **values)
    return text, width, results


def exported_driver(name, width):
    """Return a C program that calls what `export_c` has written."""
    return _filled(HEAD + EXPORTED, NAME=name, WIDTH=width)


def build(folder, sources, kind):
    """Compile with a sanitizer; return the program."""
    program = folder / f'program_{kind[:6]}'
    command = ['gcc', *OPTIONS, f'-fsanitize={kind}', '-o', program, *sources, '-lm', '-lpthread']
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return program


def run(program, states):
    """Run a program on states; return what it has computed, or raise with its report."""
    done = subprocess.run([program], input=states.tobytes(), capture_output=True, check=False)
    if done.returncode:
        report = done.stderr.decode(errors='replace')[:4000]
        raise RuntimeError(f'{program.name} ended with {done.returncode}:\n{report}')
    return np.frombuffer(done.stdout)
