import { coverageOf, missingOf, toMarkdown } from './coverage.ts'
import { readFacts } from './facts.ts'

const HEAD = `# Coverage of the API

\`npm run generate\` writes this page from the lists in \`test/specification\`, the declared routes and the titles of tests. A test compares it with the code, and fails when
something in the lists has no route, another bound, or no test.`

/** The text of docs/api-coverage.md, and what is missing of the specification. */
export async function makePage(): Promise<{ text: string; missing: string[] }> {
  const tables = coverageOf(await readFacts())
  return { text: `${HEAD}\n\n${toMarkdown(tables)}\n`, missing: missingOf(tables) }
}
