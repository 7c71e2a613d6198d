import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from '../../tools/api-client/document.ts'
import { filesBelow, ROOT, sources } from '../rules/source.ts'
import { operationsOf } from '../support/operations.ts'
import type { Facts } from './coverage.ts'

const SAMPLES = 'test/fixtures/channels/webhook'

/** The facts: declared routes, titles of tests, and recorded deliveries. */
export async function readFacts(): Promise<Facts> {
  const { operations } = operationsOf(await describeApi('https://picket.test'))
  return {
    operations: Object.fromEntries(operations.map(operation => [operation.name, operation])),
    tests: sources('test')
      .filter(({ path }) => path.endsWith('.test.ts'))
      .map(({ path, code }) => ({
        path,
        titles: /^test\/(api|flow|store)\//.test(path) ? textsOf(code, /\btest\(\s*(['"`])((?:(?!\1).)*)\1/g) : [],
        sentences: textsOf(code, /(['"`])((?:(?!\1).)+)\1/g),
      })),
    deliveries: Object.fromEntries(
      filesBelow(SAMPLES).map(path => [path.split('/').at(-1)!.replace('.json', ''), sampleOf(path)]),
    ),
  }
}

const textsOf = (code: string, pattern: RegExp) => [...code.matchAll(pattern)].map(match => match[2] ?? '')

function sampleOf(path: string) {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return { body: JSON.parse(text).body }
}
