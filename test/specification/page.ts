import { buildCoverage, listMissing, toMarkdown } from './coverage.ts'
import { readFacts } from './facts.ts'

const HEAD = `# Coverage of the API

Written by \`npm run generate\` from the lists in \`test/specification\` and the declared routes. A test compares this file with a new one, and fails for everything on the lists that has
no route, another bound, or another form. The statuses are those that tests must read: \`npm test\` without arguments records each answer that a test reads, and fails when one of them is
missing.`

/** Builds the text of docs/api-coverage.md, and the list of what is missing. */
export async function makePage(): Promise<{ text: string; missing: string[] }> {
  const tables = buildCoverage(await readFacts())
  return { text: `${HEAD}\n\n${toMarkdown(tables)}\n`, missing: listMissing(tables) }
}
