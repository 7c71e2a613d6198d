import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSignatureHeaders } from '../../control-plane/alerting/deliveries/rendering/signature.ts'
import { describeApi } from '../../tools/api-client/document.ts'
import { filesBelow, ROOT } from '../rules/source.ts'
import { listOperations } from '../support/operations.ts'
import type { Facts } from './coverage.ts'

const SAMPLES = 'test/fixtures/channels/webhook'
const REPLAY = { id: '', eventName: '', body: Buffer.alloc(0), secret: '', isReplay: true, reminder: null }

/** Reads the facts: the declared routes, the program's constants, and recorded deliveries. */
export async function readFacts(): Promise<Facts> {
  const { operations } = listOperations(await describeApi('https://picket.test'))
  return {
    operations: Object.fromEntries(operations.map(operation => [operation.name, operation])),
    deliveries: Object.fromEntries(
      filesBelow(SAMPLES).map(path => [path.split('/').at(-1)!.replace('.json', ''), readSample(path)]),
    ),
    headers: Object.keys(buildSignatureHeaders({ ...REPLAY, now: new Date(0) })),
    tests: filesBelow('test')
      .filter(path => path.endsWith('.test.ts'))
      .map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
  }
}

function readSample(path: string) {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return { body: JSON.parse(text).body }
}
