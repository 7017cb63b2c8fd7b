# The commands of a developer. Everything else is `go` itself.

# What is not in the repository is fetched at these versions, once.
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

# The program's module, and that of what only the manifests are tested with.
MODULES := . internal/tools/manifests

.PHONY: help go dev run elasticsearch check test-quick lint generate hooks dashboard metrics settings kubernetes test test-race test-elasticsearch relevance openapi fuzz torture nightly bench microbench vuln sbom build release image

help: ## Show what there is.
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The helper of development. It is built rather than run by go, which would
# swallow signals and exit statuses.
dev: go
	@go build -o .local/dev ./internal/tools/dev

go:
	@command -v go >/dev/null || { echo 'Go is missing. Install version 1.26 or newer: https://go.dev/dl'; exit 1; }

##@ Try it

run: dev ## Bring everything up, push the sample feed, search it; ONCE=1 stops after that.
	@.local/dev run $(if $(ONCE),--once)

elasticsearch: dev ## Only Elasticsearch, in the foreground (ELASTICSEARCH_PORT, _HOME, _VERSION).
	@.local/dev elasticsearch

##@ Before a commit

check: lint test-quick ## Formatter, linters and the quick tests, which also compare the files that are generated.

# Results of the second module are not cached: what it reads is outside its folder, where go
# does not see that a file has changed.
test-quick: dev ## The tests that need no server, no browser and little time (go test -short).
	@.local/dev test -- -short ./... ';' -C internal/tools/manifests -short -count 1 ./...

lint: go ## The formatter and the linters of .golangci.yml.
	for m in $(MODULES); do (cd $$m && go run $(GOLANGCI_LINT) run ./...) || exit; done

hooks: ## Have git run make check before each commit; git config --unset core.hooksPath ends that.
	git config core.hooksPath .githooks

##@ Files that are generated

generate: dashboard metrics settings kubernetes ## All of them.

dashboard: go ## Write dashboards/riskdex.json from its definition.
	@go generate ./dashboards

metrics: go ## Write docs/metrics.md from the program.
	@go test ./cmd/riskdex -run '^TestDocumentedMetricsAreThoseOfTheProgram$$' -count 1 -update

settings: go ## Write docs/settings.md from the program.
	@go test ./cmd/riskdex -run '^TestSettingsPageIsThatOfTheProgram$$' -count 1 -update

kubernetes: go ## Write the rules of deploy/kubernetes from dashboards/rules.yml.
	@mkdir -p .local
	@go run ./cmd/riskdex rules --kubernetes > .local/rules.yaml && mv .local/rules.yaml deploy/kubernetes/monitoring/prometheusrule.yaml

##@ All tests

# The race detector is left out for tests that drive servers and processes, which it
# cannot look into, and where no goroutines are started: it makes them take twice as long.
# Of the suite of journals it has what many do at once. test-race has it everywhere. Vet
# belongs to make lint. The runs take place at the same time, since most tests wait for servers
# and disks most of the time, and begin with the packages that take longest. Then the machine is
# as busy as it can be, so a test that fails is run once more, alone, and listed if it passes.
#
# SQLite is C code in Go's clothes and keeps its data in memory that is not Go's, which the
# race detector ignores. So it is compiled without: the tests of journals then take less than
# half the time. Its driver is checked like everything else.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false
UNRACED := ./cmd/riskdex ./journal/conformance ./indexer/... ./mappings/livetest ./mappings/relevance/... ./mappings ./mappings/gazetteer \
	./mappings/plaintext ./internal/tools/gazetteer ./internal/samplefeed ./internal/tools/supply ./internal/vocabulary ./receiver/jsonscan
CONCURRENT := ^TestPostgresTogether$$|^TestSQLite$$/^(concurrency|feed|claim)$$
TEST := -vet=off -shuffle=on -timeout 90m

# Tests keep their data in memory where there is room for it, and programs may be run from
# there: a disk takes a fifth of all CPU. What a disk does is tested on file systems of the tests'
# own, and by make torture.
MEMORY := $(shell test "$$(df -k /dev/shm 2>/dev/null | awk 'END {print $$4}')" -ge 8000000 2>/dev/null && \
	! grep -q ' /dev/shm .*noexec' /proc/mounts && echo TMPDIR=/dev/shm)

test: dev ## All tests, against real servers, most with the race detector; lists what was not run.
	@$(MEMORY) .local/dev with-elasticsearch -- .local/dev test --again -- \
		$(TEST) -p 2 $(UNRACED) ';' \
		$(TEST) -p 1 $(RACE) $$(go list ./... | grep -vxF "$$(go list $(UNRACED))") ';' \
		$(TEST) $(RACE) -run '$(CONCURRENT)' ./journal/conformance ';' \
		-C internal/tools/manifests $(TEST) -p 1 ./...

test-race: dev ## All tests with the race detector; takes about twice as long.
	@.local/dev with-elasticsearch -- .local/dev test --again -- \
		$(TEST) $(RACE) -timeout 60m ./... ';' -C internal/tools/manifests $(TEST) -p 1 $(RACE) ./...

# What differs between versions of Elasticsearch is noticed here: mappings and searches, answers,
# versions, blocks, aliases, snapshots, crashes. make nightly runs all tests on the other version.
ANSWERS := TestItemAnswers|TestWhatPassesTheReceiverPassesElasticsearch|TestEveryIDThatTheReceiverAcceptsIsIndexed|TestIndexAheadOfTheJournal|TestDeletedAheadOfTheJournal|TestPoisonIsDeadAlone|TestOnePoisonSpoilsNoOther|TestTooLargeABulkIsHalved|TestHeldIndexHealsAndHoldsUpNobody|TestOnAServerOfItsOwn|TestLostIndexComesBackComplete|TestRestoredFromASnapshot|TestChangedMappingIsRebuiltOnce
PROCESSES := TestCheckLeavesTheJournalAlone|TestElasticsearchDies|TestAppsFindWhatThePublisherWaitedFor
test-elasticsearch: dev ## The tests that Elasticsearch has most to do with; ELASTICSEARCH_VERSION=9.2.0 for another version.
	@$(MEMORY) .local/dev with-elasticsearch -- .local/dev test --again -- $(TEST) -p 2 -parallel 4 ./mappings/livetest ';' \
		$(TEST) -p 2 -parallel 4 -run '^($(ANSWERS)|$(PROCESSES))$$' ./indexer ./cmd/riskdex

relevance: dev ## How well the search finds, by class of query, and an exam with feeds that it was not made for.
	@.local/dev with-elasticsearch -- go test -count 1 -v -run '^(TestRelevance|TestExam)$$' -timeout 10m ./mappings/relevance/...

openapi: dev ## Hold the OpenAPI descriptions against the program; see internal/testkit/openapitest/requirements.txt.
	@test -x .local/python/bin/python || python3 -m venv .local/python
	@.local/python/bin/pip install -q -r internal/testkit/openapitest/requirements.txt
	@go test -count 1 -run Description ./receiver ./admin
	@RISKDEX_TEST_PYTHON="$(CURDIR)/.local/python/bin/python" .local/dev with-elasticsearch -- go test -count 1 -v -run Descriptions -timeout 10m ./cmd/riskdex

# At the end of -fuzztime, Go 1.26 may fail with nothing but "context deadline exceeded",
# though nothing was found (golang/go#75804).
FUZZTIME ?= 30s
fuzz: go ## Fuzz what reads strangers' input: every fuzz target there is, FUZZTIME (30s) each.
	@mkdir -p .local
	@grep -rno '^func Fuzz[A-Za-z]*' --include='*_test.go' --exclude-dir=.local . | while IFS=: read -r file _ target; do \
		echo "$${target#func } in $$(dirname $$file)"; status=0; \
		go test -run '^$$' -fuzz "^$${target#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$(dirname $$file)" </dev/null >.local/fuzz.txt 2>&1 || status=$$?; \
		cat .local/fuzz.txt; test $$status = 0 || { grep -q '^ *context deadline exceeded$$' .local/fuzz.txt && ! grep -q 'Failing input' .local/fuzz.txt; } || exit 1; done

# Tests in files that ask how long they are to be.
TORTURED := journal indexer cmd internal/testkit/elasticserver
LONGER = $(shell grep -rl --include='*_test.go' 'torture\.' $(TORTURED) | xargs grep -ho '^func Test[A-Za-z0-9]*' | sed 's/func \(.*\)/^\1$$/' | paste -sd '|' -)

# Each package alone: they compete for the machine enough as it is.
torture: dev ## The tests of faults at full length, TORTURE= only those that match; takes about a quarter of an hour.
	@echo 'RISKDEX_TORTURE=1: 200 kills, power cuts, outages, poison, hot documents, spoilt networks. Says at the end how long it took.'
	@began=$$(date +%s); RISKDEX_TORTURE=1 .local/dev with-elasticsearch -- \
		go test -p 1 -count 1 -v -timeout 60m -run '$(or $(TORTURE),$(LONGER))' $(TORTURED:%=./%/...); \
		status=$$?; echo "torture took $$(( ($$(date +%s) - began) / 60 )) min, exit status $$status"; exit $$status

nightly: test-race torture ## What takes too long for every change: races, torture, another system, all tests on Elasticsearch 9, long fuzzing.
	@GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/riskdex
	@GOOS=darwin GOARCH=arm64 go vet ./...
	@ELASTICSEARCH_VERSION=9.2.0 $(MAKE) test
	@$(MAKE) fuzz FUZZTIME=$(if $(filter command line,$(origin FUZZTIME)),$(FUZZTIME),5m)

##@ Speed

# The long form, with nothing chosen, is the one whose table is kept.
bench: go ## How fast it is, beside what limits it; SHORT=1 in two minutes, ONLY= some parts, JSON=1 for programs.
	@go run ./internal/tools/bench $(if $(SHORT),--short) $(if $(JSON),--json) $(if $(ONLY),--only '$(ONLY)') $(if $(PROFILES),--profiles '$(PROFILES)') \
		$(if $(SHORT)$(ONLY),,--write docs/performance.md)

microbench: go ## Go benchmarks of the journal, the receiver's checks and the extraction.
	go test -run '^$$' -bench . -benchmem ./journal/... ./receiver/... ./mappings

##@ What is shipped

vuln: go ## Known vulnerabilities in what is used; needs the Go vulnerability database.
	@mkdir -p .local
	@: > .local/govulncheck.txt; worst=0; for m in $(MODULES); do \
		(cd $$m && go run $(GOVULNCHECK) ./...) >> .local/govulncheck.txt 2>&1; status=$$?; test $$status -le $$worst || worst=$$status; \
		done; cat .local/govulncheck.txt; exit $$worst

# The same commit makes the same bytes, in whichever folder: no paths, no C, and
# the time of the commit in place of that of the build.
build: go ## The program, as .local/riskdex; riskdex version says what from.
	@CGO_ENABLED=0 go build -trimpath -buildvcs=auto -o .local/riskdex ./cmd/riskdex

# The image is built without the repository's history, so it is told.
STAMP = $(shell git describe --tags --always --dirty) $(shell TZ=UTC0 git show -s --format='%H %cd' --date=format-local:%Y-%m-%dT%H:%M:%SZ)
IMAGE ?= riskdex:dev
image: ## The image, as IMAGE (riskdex:dev), with a container engine.
	docker build --build-arg STAMP='$(STAMP)' --tag $(IMAGE) .

# Needs the tag VERSION on the commit that is checked out, and nothing uncommitted.
release: go ## Programs, packages, checksums of VERSION=v1.2.3, as .local/release/v1.2.3; needs that tag, takes about six minutes.
	@go -C internal/tools/manifests run ./release '$(VERSION)' '$(CURDIR)/.local/release/$(VERSION)'

sbom: build ## What the program is made of, as .local/riskdex.cdx.json (CycloneDX).
	@go -C internal/tools/manifests run ./sbom "$(CURDIR)/.local/riskdex" "$(CURDIR)/.local/riskdex.cdx.json"
