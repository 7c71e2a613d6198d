import { coverageOf, missingOf, toMarkdown } from './coverage.ts'
import { readFacts } from './facts.ts'

const HEAD = `# What of the specification is there

Made by \`npm run generate\` of the specification's lists (\`test/specification\`), the routes as they are declared and what the tests say; a test makes it again and
compares, and fails for whatever the specification lists that has no route, another bound, or no test.`

/** The text of docs/api-coverage.md, and what is missing of the specification. */
export async function makePage(): Promise<{ text: string; missing: string[] }> {
  const tables = coverageOf(await readFacts())
  return { text: `${HEAD}\n\n${toMarkdown(tables)}\n`, missing: missingOf(tables) }
}
