import { fileURLToPath } from 'node:url'
import { startTestEngines, type TestEngines } from '../engines/test-engines.ts'
import { listChangedFiles, readGraph, selectAffected } from './affected.ts'
import { startCoverage } from './coverage.ts'
import { scheduleAsBatch } from './scheduling.ts'
import { createSourceMapper } from './source-positions.ts'
import { createTestReport } from './tap-report.ts'
import { bundleTests } from './test-bundle.ts'
import { groupFiles, selectTestFiles, type TestFiles } from './test-files.ts'
import { runTestFiles } from './test-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/**
 * Concurrency of quick files, which compute, and of flow files and browsers, which mostly wait; together they keep two cores busy.
 * With more, everything takes longer: with eight flows the suite took a tenth longer than with five. A worker without files of
 * its kind runs files of the other kind.
 */
const QUICK_CONCURRENCY = 2
const FLOW_CONCURRENCY = 5

/** Runs the given test files (default: all) and resolves to the exit code. The last line of the output is the summary. */
export async function runTests(given: string[]): Promise<number> {
  const started = Date.now()
  const since = given.map(name => /^--affected(?:=(.+))?$/.exec(name)).find(match => match !== null)
  const selected = selectTestFiles(
    ROOT,
    given.filter(name => !name.startsWith('--affected')),
  )
  const files = since && !('unknown' in selected) ? await keepAffected(selected, since[1] ?? 'HEAD') : selected
  if ('unknown' in files) {
    console.error(`Test file or folder "${files.unknown}" does not exist.`)
    return 1
  }
  scheduleAsBatch()
  const interruption = new AbortController()
  // not once: npm forwards a Ctrl-C that the terminal has already sent to this process
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort())
  const [engines, bundles] = await Promise.all([getEngines(), bundleTests(ROOT, [...files.quick, ...files.flow])])
  const report = createTestReport(text => console.log(text), createSourceMapper(ROOT.replace(/\/$/, '')))
  const coverage = given.length === 0 ? startCoverage() : null
  const env = { TEST_DATABASE_URL: engines.databaseUrl, TEST_CLICKHOUSE_URL: engines.clickhouseUrl, ...coverage?.env }
  const { signal } = interruption
  await runAll(files, async group => {
    if (!signal.aborted) await runTestFiles(group, bundles, env, signal, run => report.file(run))
  })
  await engines.stop()
  bundles.remove()
  const { passed, failed: failedTests } = report.end()
  const gaps = signal.aborted ? [] : ((await coverage?.listGaps()) ?? [])
  coverage?.remove()
  for (const gap of gaps) console.log(`FAILED: ${gap}`)
  const failed = failedTests + gaps.length
  console.log(`${signal.aborted ? 'interrupted after' : 'took'} ${Math.round((Date.now() - started) / 1000)} s`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || passed === 0 || signal.aborted ? 1 : 0
}

/** Those that the changes since a commit (default: those that are not committed) can reach. */
async function keepAffected({ quick, flow }: TestFiles, base: string): Promise<TestFiles> {
  const tests = [...quick, ...flow]
  const affected = new Set(selectAffected(await readGraph(ROOT, tests), tests, listChangedFiles(ROOT, base)))
  console.log(`${affected.size} of ${tests.length} test files are affected by changes since ${base}`)
  const isAffected = (file: string) => affected.has(file)
  return { quick: quick.filter(isAffected), flow: flow.filter(isAffected) }
}

const isOfBrowser = ([file]: string[]) => file!.startsWith('test/browser/')

/** Each in a process of its own when there are few: they mostly wait. Groups come first: one takes as long as a long file. */
function groupFlows(files: string[]): string[][] {
  if (files.length <= FLOW_CONCURRENCY) return files.map(file => [file])
  return groupFiles(ROOT, files).sort((a, b) => Number(a.length === 1) - Number(b.length === 1))
}

async function runAll(files: TestFiles, run: (group: string[]) => Promise<void>): Promise<void> {
  const groups = groupFiles(ROOT, files.quick)
  // browsers mostly wait, like flows
  const quick = groups.filter(group => !isOfBrowser(group))
  const flow = [...groups.filter(isOfBrowser), ...groupFlows(files.flow)]
  const worker = async (own: string[][], other: string[][]) => {
    for (;;) {
      const group = own.shift() ?? other.shift()
      if (group === undefined) return
      await run(group)
    }
  }
  await Promise.all([
    ...Array.from({ length: QUICK_CONCURRENCY }, () => worker(quick, flow)),
    ...Array.from({ length: FLOW_CONCURRENCY }, () => worker(flow, quick)),
  ])
}

async function getEngines(): Promise<TestEngines> {
  const { TEST_DATABASE_URL: databaseUrl, TEST_CLICKHOUSE_URL: clickhouseUrl } = process.env
  if (databaseUrl && clickhouseUrl) return { databaseUrl, clickhouseUrl, stop: async () => {} }
  return startTestEngines()
}
