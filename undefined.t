1.46 0.01 2.8w test/cli/commands.test.ts > a policy with filter instead of filters is shown with its position and a suggestion
0.19 0.04 0.4w test/cli/commands.test.ts > plans without changing anything
1.26 0.13 5.1w test/cli/commands.test.ts > runs a policy and prints the run as one JSON object
0.84 0.16 5.0w test/cli/commands.test.ts > retries only the targets that failed
0.65 0.09 3.7w test/cli/commands.test.ts > pauses and resumes a policy, and records who did
0.36 0.08 3.1w test/cli/commands.test.ts > calls any operation by its name
0.46 0.03 2.1w test/cli/commands.test.ts > checks everything it needs
0.58 0.04 3.8w test/cli/commands.test.ts > prints no secret
0.20 0.04 1.1w test/cli/commands.test.ts > a wrong token: exit 3 and one sentence
0.19 0.00 0.9w test/cli/commands.test.ts > a wrong token with --json: the report of the run that was cancelled
0.37 0.15 1.6w test/cli/commands.test.ts > an unreachable API: exit 3, and no run stays active
0.14 0.03 1.6w test/cli/commands.test.ts > --detach without a daemon: exit 2, and what to do
2.72 0.00 9.6w test/cli/first-run.test.ts > writes the schemas that the other files name, and a README
0.67 0.00 1.2w test/cli/first-run.test.ts > writes only outdated schemas again
0.76 0.00 1.0w test/cli/first-run.test.ts > "schema --write" writes the schemas into any folder
0.36 0.06 1.2w test/cli/first-run.test.ts > says why it is not successful, and that the sandbox is made that way
0.35 0.02 1.0w test/cli/first-run.test.ts > says nothing of a sandbox when the service does not name itself as one
1.54 0.00 3.0w test/cli/inventory.test.ts > an inventory is saved, and shows its plan on a machine without account and Redis
0.15 0.00 0.3w test/cli/inventory.test.ts > an inventory of one policy names what it lacks for another policy
0.18 0.00 0.2w test/cli/explain.test.ts > finds a key as policies[0].limits.concurrency
0.23 0.00 0.3w test/cli/explain.test.ts > finds a key by its last part, in policies and in the configuration
0.25 0.00 0.3w test/cli/explain.test.ts > says of an operation its request, effect, cost and section, and of a job its options
0.20 0.00 0.3w test/cli/explain.test.ts > suggests a word for one that it does not know, with exit code 2
0.19 0.00 0.2w test/cli/explain.test.ts > lists every word
0.33 0.00 0.3w test/cli/explain.test.ts > every example of a key is accepted where it belongs
0.17 0.00 0.3w test/cli/runs.test.ts > a manual run of a paused policy starts, and the pause is mentioned
0.41 0.00 1.2w test/cli/runs.test.ts > cancelling a run whose account refuses access says that its tasks cannot be followed
1.89 0.00 2.7w test/cli/policy-tests.test.ts > the tests of the shipped policies pass, one line each
0.37 0.00 0.4w test/cli/output.test.ts > prints the same data in every format
