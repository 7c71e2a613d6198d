import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../rules/source.ts'

const CLI = join(ROOT, 'deploy/cli/picket.mjs')
/** Makes the command line ask for confirmation although its standard input is a pipe. */
const TERMINAL = 'data:text/javascript,process.stdin.isTTY=true'

type CliRun = { code: number | null; out: string; err: string }
type CliOptions = { input?: string; isTerminal?: boolean }

/** Runs the command line as users do, without a loader. `isTerminal`: `input` is what a person enters. */
export function runCli(
  args: string[],
  env: Record<string, string>,
  { input = '', isTerminal = false }: CliOptions = {},
): Promise<CliRun> {
  const child = spawn(process.execPath, [...(isTerminal ? ['--import', TERMINAL] : []), CLI, ...args], {
    env: { PATH: process.env.PATH, ...env },
  })
  const run: CliRun = { code: null, out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', text => {
    run.out += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    run.err += text
  })
  // a program that exits early does not read it
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise(resolve => child.on('close', code => resolve({ ...run, code })))
}
