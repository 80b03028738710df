# SPDX-License-Identifier: Apache-2.0
# make demo     the package in its own environment, and a robot that moves (ROBOT=tiago: TIAGo)
# make init     your robot: URDF=my.urdf, then .venv/bin/kane-dynamics demo my_robot.yaml
# make test     lint, types and tests, with all oracles installed
# make test-quick  one case of each law and no node, for the edit loop
# make bench    speed against Pinocchio and MuJoCo, with a plot; registers and spills of kernels for
#               graphics cards, where there is none, too
# make validate more cases of the tests, the evaluation of Silva et al. against MuJoCo, operation counts, all methods compared
#               also where constraint rows nearly repeat each other; wheels on a slope, tipping;
#               a sweep whose workers are killed
# make stress   10^5 interrupted batches with threads, forks and garbage, on guarded memory;
#               10^6 settings of gravity and payloads
# make sanitize C of robots under AddressSanitizer, UBSan and ThreadSanitizer of gcc
# make laws     a minute of each mechanism with redundant rows: energy, rank events
# make soak     all nodes under faults, MINUTES=30 RATE=500 TIME=wall (or simulated); LOOP=1: simulator
#               and controller alone; PRIORITY=50: of the nodes of efforts, in real time
# make deadlines  the closed loop with computed torque on a quiet machine, MINUTES=10 RATE=500
#               TOGETHER=1: both nodes in one process
# make ros2-control  controllers, JTC and hardware of a sourced ROS 2 with ros2_control, Jazzy or later
# make fuzz     texts, files, command lines and messages that are wrong: none may raise what is no
#               error of the family, or take longer than 1 s, COUNT=1000000
# make platforms  a short suite on every Python 3.10 to 3.13 of this machine, old and new llvmlite
# make docs     the site, with the gallery of examples run: doc/_build/html/index.html
# make aarch64  a short check on emulated aarch64 (Debian with qemu-user)
# make mutants  every wrong formula, not only the sample of make validate: which ones does no law see?
# make pictures  the pictures of the README and of the site, into doc/pictures
# make lint     ruff, mypy and codespell only
# make clean    remove the environment and what the tools left behind
# make help     this list

PYTHON ?= python3
VENV ?= .venv
ROBOT ?= nonholonomic
MINUTES ?= 30
RATE ?= 500
TIME ?= wall
COUNT ?= 1000000
BIN := $(VENV)/bin
QUICK := $(addprefix test/,algebra robot bases/test_bases_kinematics.py test_architecture.py test_budget.py \
         test_words.py test_imports.py test_public_api.py test_engines.py)

# An environment is reused only for the same sources of dependencies, place and interpreter.
# It is rebuilt from nothing otherwise, because pip never removes what is no longer asked for.
KEY := $(shell { cat setup.py setup.cfg pyproject.toml; echo '$(CURDIR)'; \
         $(PYTHON) -c 'import sys; print(sys.version, sys.base_prefix)'; } 2>&1 | cksum | tr ' ' '-')
MADE := $(VENV)/.made-$(KEY)
WITH_ROS := $(VENV)/.with-ros-$(KEY)
WITH_ROBOTS := $(VENV)/.with-robots-$(KEY)
WITH_TESTS := $(VENV)/.with-tests-$(KEY)
WITH_DOCS := $(VENV)/.with-docs-$(KEY)

# The environment has its own ROS: what a sourced workspace or other wheels exported stays out.
export PYTHONNOUSERSITE := 1
ifneq ($(AMENT_PREFIX_PATH)$(_ROS_WHEELS_BOOTSTRAP_COMPLETE),)
unexport LD_LIBRARY_PATH
endif
unexport AMENT_PREFIX_PATH COLCON_PREFIX_PATH PYTHONHOME PYTHONPATH RMW_IMPLEMENTATION
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE

# Nodes and commands of the tests are hundreds of processes: each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo init test test-quick tests-of-nodes other-tests bench validate laws mutants soak fuzz deadlines stress sanitize platforms aarch64 docs lint pictures ros2-control clean help
.DEFAULT_GOAL := demo

help:
	@sed -n 's/^# \(make .*\|  *.*\)/\1/p' Makefile

demo: $(WITH_ROS) $(if $(filter tiago,$(ROBOT)),$(WITH_ROBOTS))
	$(BIN)/kane-dynamics demo $(ROBOT)

# Packages of a sourced workspace are looked up, for package:// and $(find ...); none is loaded.
init: export AMENT_PREFIX_PATH := $(AMENT_PREFIX_PATH)
init: $(WITH_ROS)
	$(BIN)/kane-dynamics init $(URDF)

# Eigen, CppAD: for the rows of Pinocchio in C++ and of its generated C, where there are compilers.
bench: $(WITH_TESTS)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet cmeel-eigen cmeel-cppad cmeel-cppadcodegen
	$(BIN)/python -m studies.speed
	$(BIN)/python -m studies.cuda --spills

validate: $(WITH_TESTS)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m thorough --ignore=test/ros
	$(BIN)/python -m studies.silva
	$(BIN)/python -m studies.agreement
	$(BIN)/python -m studies.precision
	$(BIN)/python -m studies.rank_changes
	$(BIN)/python -m studies.slope
	$(BIN)/python -m studies.observer
	$(BIN)/python -m studies.tip_over
	$(BIN)/python -m studies.tip_over_chances
	$(BIN)/python -m studies.sweep

stress: $(WITH_TESTS)
	$(BIN)/python -X faulthandler test/stress/interrupted_batches.py
	$(BIN)/python test/stress/parameters_for_ever.py
	$(BIN)/python test/stress/engines_agree.py

sanitize: $(WITH_TESTS)
	PYTHONPATH=. $(BIN)/python test/stress/sanitize.py

fuzz: $(WITH_TESTS)
	$(BIN)/python test/fuzz/fuzz.py --count $(COUNT)

mutants: $(WITH_TESTS)
	$(BIN)/python test/mutation/test_mutation.py

laws: $(WITH_TESTS)
	$(BIN)/python test/simulation/minute_of_mechanisms.py

soak: $(WITH_TESTS)
	PYTHONPATH=. $(BIN)/python test/ros/soak.py --minutes $(MINUTES) --rate $(RATE) --time $(TIME) $(if $(LOOP),--loop) $(if $(PRIORITY),--priority $(PRIORITY))

deadlines: $(WITH_TESTS)
	PYTHONPATH=. $(BIN)/python test/ros/long_run.py --minutes $(MINUTES) --rate $(RATE) $(if $(TOGETHER),--together)

# With the Python, the packages and the libraries of the ROS 2 that is sourced.
ros2-control: export PYTHONPATH := $(CURDIR):$(CURDIR)/test/ros:$(PYTHONPATH)
ros2-control: export AMENT_PREFIX_PATH := $(AMENT_PREFIX_PATH)
ros2-control: export LD_LIBRARY_PATH := $(LD_LIBRARY_PATH)
ros2-control: export RMW_IMPLEMENTATION := $(RMW_IMPLEMENTATION)
ros2-control: export _ROS_WHEELS_BOOTSTRAP_COMPLETE := $(_ROS_WHEELS_BOOTSTRAP_COMPLETE)
ros2-control:
	@test -n "$(AMENT_PREFIX_PATH)" || { echo 'source a ROS 2 with ros2_control first: doc/ros2_control.md'; exit 1; }
	python3 -m pytest -ra test/ros2_control

platforms:
	$(PYTHON) test/platforms/pythons.py $(VENV)-platforms

# Warnings are errors. Links to other sites are listed, not called: doc/_build/external_links.txt.
docs: $(WITH_DOCS)
	$(BIN)/python -m sphinx -W --keep-going -b html doc doc/_build/html
	$(BIN)/python doc/list_links.py

aarch64: $(MADE)
	test/platforms/aarch64.sh $(VENV)-aarch64 $(BIN)/python

# Small matrices: threads of the linear algebra only get into each other's way. The nodes mostly
# wait: their tests run one after the other, beside all others, which let them go first. Each line
# says which of the three jobs it is of.
test test-quick: export OMP_NUM_THREADS := 1
test test-quick: export OPENBLAS_NUM_THREADS := 1
test: $(WITH_TESTS)
	$(MAKE) -j 3 lint tests-of-nodes other-tests

lint tests-of-nodes other-tests: SHELL := bash
lint tests-of-nodes other-tests: .SHELLFLAGS := -o pipefail -c
WITH_JOB_NAME = 2>&1 | sed -u 's/^/$(@:tests-of-%=%): /'

tests-of-nodes: $(WITH_TESTS)
	$(BIN)/python -m pytest -ra --durations=15 test/ros $(WITH_JOB_NAME)

other-tests: $(WITH_TESTS)
	nice $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not thorough' --durations=15 --ignore=test/ros $(WITH_JOB_NAME)

test-quick: $(WITH_TESTS)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not thorough' $(QUICK)

pictures: $(WITH_TESTS)
	$(BIN)/python -m studies.pictures

lint: $(WITH_TESTS)
	@$(BIN)/ruff check . $(WITH_JOB_NAME)
	@$(BIN)/ruff format --check . $(WITH_JOB_NAME)
	@$(BIN)/mypy $(WITH_JOB_NAME)
	@$(BIN)/codespell $(WITH_JOB_NAME)

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else \
	  f"kane_dynamics needs Python >= 3.10; $(PYTHON) is {sys.version.split()[0]}: make PYTHON=...")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo 'No environment can be made: $(PYTHON) has no venv or ensurepip.' \
	  'On Debian and Ubuntu: sudo apt install python3-venv; or make PYTHON=... with another one'; exit 1; }
	@echo 'Making the environment $(VENV) ...'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(WITH_ROS): $(MADE)
	@echo 'Installing kane_dynamics and ROS 2 (about 1 GB on disk, minutes the first time) ...'
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[ros]'
	@touch $@

$(WITH_ROBOTS): $(WITH_ROS)
	@echo 'Installing the URDF files of real robots (131 MB to load, 414 MB on disk) ...'
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[ros,robots]'
	@touch $@

$(WITH_DOCS): $(MADE)
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[docs,learn,sweep,symbolic]'
	@touch $@

$(WITH_TESTS): $(MADE)
	@echo 'Installing kane_dynamics, ROS 2, the oracles and the tools (2.4 GB on disk, minutes the first time) ...'
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[ros,oracle,test]'
	@touch $(WITH_ROS) $(WITH_ROBOTS) $(WITH_DOCS) $@

clean:
	rm -rf $(VENV) $(VENV)-platforms $(VENV)-aarch64 build install log dist *.egg-info *-results
	rm -rf doc/_build doc/gallery
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
