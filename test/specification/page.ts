import { coverageOf, missingOf, toMarkdown } from './coverage.ts'
import { readFacts } from './facts.ts'

const HEAD = `# Coverage of the API

Written by \`npm run generate\` from the lists in \`test/specification\`, the declared routes and the titles of the tests. A test compares this file with a new one, and fails for everything
on the lists that has no route, another bound, or no test.`

/** Builds the text of docs/api-coverage.md, and the list of what is missing. */
export async function makePage(): Promise<{ text: string; missing: string[] }> {
  const tables = coverageOf(await readFacts())
  return { text: `${HEAD}\n\n${toMarkdown(tables)}\n`, missing: missingOf(tables) }
}
