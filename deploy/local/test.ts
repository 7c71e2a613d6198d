import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startTestEngines, type TestEngines } from './engines/pair.ts'
import { createReport } from './tap-report.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Cheap ones first, so that what is plainly wrong shows at once. */
const KINDS = ['rules', 'unit', 'store', 'api', 'browser', 'flow']

/** Runs tap over the given files (all when none) and resolves to its exit code. The last line says what passed. */
export async function runTests(given: string[]): Promise<number> {
  const engines = await givenEngines()
  const stop = () => engines.stop()
  let interrupted = false
  const started = Date.now()
  const tap = spawn('npx', ['tap', 'run', '--reporter=tap', ...(given.length > 0 ? given : allFiles())], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TEST_DATABASE_URL: engines.databaseUrl, TEST_CLICKHOUSE_URL: engines.clickhouseUrl },
  })
  const report = createReport(text => console.log(text))
  createInterface({ input: tap.stdout }).on('line', report.line)
  // Ctrl-C reaches tap too; we wait for it and then stop the engines
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      interrupted = true
      tap.kill(signal)
    })
  }
  const code = await new Promise<number>(resolve => tap.once('close', status => resolve(status ?? 1)))
  await stop()
  const { passed, failed } = report.end()
  console.log(`${interrupted ? 'interrupted after' : 'took'} ${Math.round((Date.now() - started) / 1000)} s`)
  console.log(`${passed} passed, ${failed} failed`)
  return code === 0 && (failed > 0 || passed === 0 || interrupted) ? 1 : code
}

async function givenEngines(): Promise<TestEngines> {
  const { TEST_DATABASE_URL: databaseUrl, TEST_CLICKHOUSE_URL: clickhouseUrl } = process.env
  if (databaseUrl && clickhouseUrl) return { databaseUrl, clickhouseUrl, stop: async () => {} }
  return startTestEngines()
}

function allFiles(): string[] {
  return KINDS.flatMap(kind => testFiles(join('test', kind)))
}

function testFiles(folder: string): string[] {
  try {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    return names
      .filter(name => name.endsWith('.test.ts'))
      .map(name => join(folder, name))
      .sort()
  } catch {
    return []
  }
}
