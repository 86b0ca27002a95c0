/** The README that `caretaker init` writes into a project folder. */
export const projectReadme = `# Site maintenance

Policies for [Caretaker](config/caretaker.yaml): what is done to the sites of an account, when, and within which limits.

| file | content |
|---|---|
| \`config/caretaker.yaml\` | accounts, Redis, the dashboard, receivers of notifications |
| \`config/policies/*.yaml\` | policies: when, which targets, which job, which limits |
| \`config/tests/*.yaml\` | tests: what a policy selects and requests, without network |
| \`config/schemas/*.json\` | JSON Schemas, with which editors complete and check these files |
| \`.env\` | address and token of the account; never in git |
| \`.caretaker/\` | the data of this machine; never in git |

## First steps

1. Write the address and the token of the account into \`.env\`:

   \`\`\`sh
   CARETAKER_BASE_URL=https://example.com/api/v6
   CARETAKER_API_TOKEN=...
   \`\`\`

   Without an account, \`caretaker sandbox\` serves a simulated one, and prints the values to export, with a data folder of
   its own: the records of an account belong to one service.

2. \`caretaker doctor\` checks the configuration, Redis and the account.
3. \`caretaker plan nightly-sync\` shows what a policy would do. It changes nothing.
4. \`caretaker run nightly-sync\` runs it once. \`caretaker daemon\` runs all policies when they are due,
   except those with \`enabled: false\`. The policies that change anything come with that line: delete it when a policy does what you want.

## Change a policy

\`\`\`sh
caretaker validate        # checks the configuration and the policies
caretaker test            # runs the tests of the policies
caretaker policies diff --against HEAD   # what the change does: keys, scheduled times, targets
\`\`\`

A running daemon reads a file when it is saved, so saving is deploying. To look first, edit in a second checkout, and compare there. All
three need no account, so they can check a pull request. \`caretaker explain <word>\` explains a key, a reason or an error.

An editor with the YAML language server uses the schemas: the first line of each file names its own. After an upgrade of
Caretaker, \`caretaker schema --write config/schemas\` writes them again.
`;
