# SPDX-License-Identifier: Apache-2.0
"""The words of doc/reliability.md between its figures."""

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- made by python -m studies.reliability from doc/results; do not edit -->
# Reliability

What was tried to break the package, how often, and what came of it. All figures below come from
the files in `doc/results`, which the commands of each section write; `python -m
studies.reliability` keeps these files and writes this page, and a test compares the two."""

SOAKED = """`make soak MINUTES=30 RATE=500 PRIORITY=50` starts all eight nodes, each a process
over real DDS (`LOOP=1`: simulator and controller alone), and lets faults act on them in turn, a
second each, with a second to recover:

* states with NaN, infinite and huge numbers, wrong names and lengths; late, lost, twice,
  reordered, torn bytes;
* odometry that is lost, NaN or of another frame; clocks that jump both ways or stand still;
* commands to every node that are NaN, huge, too short, of unknown joints and frames, old, or
  torn bytes;
* parameters that change, also to values that must be refused; other models, and texts that are
  none, while efforts go out;
* nodes that get no processor for half a second, and nodes that are killed and started again.

What is judged: no output is non-finite; no effort answers a state that must not be used, or
leaves its node later than `timeout.joint_states` after the stamp of its state; no node ends;
each node counts what it refuses in its diagnostics; all go on after each fault; memory changes
by less than 2 % in a life of ten minutes or longer, once it has settled.

In wall time the age of an effort is the time that DDS put on it, less the stamp of its state.
With `TIME=simulated` the clock of the nodes is `/clock`, which stands still while a process
waits for a processor; ages are then those of the wall from the moment that the state was passed
on, and are shown, but not judged. Torn bytes never reach a node: DDS refuses them."""

CAUSES = """### What it found, and what is open

* Efforts of a node that waited for a processor in the midst of its computation went out as if
  nothing had happened. The node now looks at its clocks once more, last before it sends, and
  takes its efforts back where their state has become stale
  (`test/ros/test_ros_late_efforts.py`).
* Late efforts, some 0.01 s late: at an ordinary priority Linux may take the processor from a node
  between its last look at the clock and the message. `thread_priority` prevents that, and the
  soaks above in wall time give it to the nodes that send efforts.
* Once, in an earlier run on a busy machine, efforts of `kane_wrench_control` stood for 5 s after
  the simulator was killed. It has not come again. Zeros are said once; a message that is lost on
  the way comes again with a heartbeat of DDS, after up to 3 s. Repeating zeros until they are
  confirmed was tried: confirmations come with the same heartbeats, so it fills seconds with zeros.
* Two cores do not carry eight nodes of Python at 500 Hz: see how many states a second came
  through. The loop alone keeps more, beside whatever else ran (its load is said).
* Memory of a node that has just been started grows while its heap fills with the first models. The
  soak therefore publishes ten models after each start, and judges lives of ten minutes or
  longer.
* One effort of the loop's soak left half a second late: the node was stopped (SIGSTOP, the fault
  "a node stands still") between its last look at the clock and the end of the write, and sent it
  when it went on. No process can prevent that of itself. The message has the stamp of its state,
  so a receiver can tell; one that holds the last value should have a timeout of its own."""

DEADLINE_WORDS = """Hard real time is that of the C library and controller of `kane-dynamics build`
([build.md](build.md)). The nodes of Python are for trying out, and for loops of 100 to 250 Hz. A
period is missed where it begins without the efforts of the state before, or late by a period. The
simulator counts these (`missed periods` of its diagnostics); the last line of `kane-dynamics demo`
says how many there were.

`make deadlines MINUTES=10 RATE=500` runs `kane_simulator` and `kane_computed_torque` without
faults as two processes, `TOGETHER=1` in one (`kane_container`), with SCHED_FIFO 50 where that is
allowed. Nodes of one process hand their messages over without DDS
([scheduling](nodes/scheduling.md)). Meanwhile one process on each processor only sleeps, at
SCHED_FIFO 99. Where it wakes up more than 0.5 ms late, the kernel or the host of the
virtual machine held everybody up."""

SANITIZED = """`make sanitize` runs libraries of `kane-dynamics build` in four threads under the
sanitizers of gcc, and compares the bits that the threads got; the C of `export_c` is instrumented
throughout. The machine code of LLVM is not, so all its arguments end at a page that nobody may
touch, also where Python calls it: with empty and odd batches, by columns, strided, backwards, of
other types. States are ordinary ones, and NaN, infinities, denormals and numbers beyond all
bounds. `make stress` has batches on guarded memory with interrupts, threads and forks. Calls of
one robot from several threads give the bits of calls from one (`test_calls_from_several_threads`,
`test_threads_do_not_meet`)."""

TAIL = """## Free-threaded Python

Not tried: the package does not install there. NumPy, SciPy, numpy-quaternion and llvmlite have
wheels for the free-threaded build of Python 3.14 (`cp314t`); CasADi has one wheel for all
versions (`abi3`), which that build does not load. The entries of the machine code that skip
ctypes know that build and leave themselves out (`entries_supported`)."""
