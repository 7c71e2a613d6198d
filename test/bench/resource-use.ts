/** CPU time and memory of the processes that one process started, by program. From /proc, so on Linux only. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cpuUs, endedChildrenUs } from './rig.ts'

/** The names in the figures, and the part of the command line that identifies each program. The first match counts. */
const COMMANDS = {
  'control plane': 'control-plane.js',
  probes: 'probe-agent.js',
  NATS: 'nats-server',
  PostgreSQL: 'postgres',
  ClickHouse: 'clickhouse-server',
  runner: '',
}

type ProgramName = keyof typeof COMMANDS
export const PROGRAMS = Object.keys(COMMANDS) as ProgramName[]

/**
 * `cpuPercent`: of one core. `memoryMb`: proportional set size, so that the sum is the memory of all processes. The figure is too
 * low if other processes on the machine map the same files (node, chDB, PostgreSQL).
 */
export type ResourceUse = { name: ProgramName; cpuPercent: number; memoryMb: number }

/** Each process with its program, CPU time so far and memory. */
type ProcessSnapshot = Map<number, { name: ProgramName; cpuUs: number; memoryMb: number }>

export function readPrograms(pid: number): ProcessSnapshot {
  const look: ProcessSnapshot = new Map()
  for (const one of listProcessTree(pid)) {
    const command = read(`/proc/${one}/cmdline`)
    const memory = /^Pss:\s+(\d+)/m.exec(read(`/proc/${one}/smaps_rollup`))
    // the process has just ended, for example a worker of PostgreSQL
    if (memory === null) continue
    const name = PROGRAMS.find(program => command.includes(COMMANDS[program]))!
    look.set(one, { name, cpuUs: cpuUs(one) + endedChildrenUs(one), memoryMb: Number(memory[1]) / 1_024 })
  }
  return look
}

/** CPU use of each program between two snapshots. The memory is that of the later one. */
export function computeUseByProgram(before: ProcessSnapshot, after: ProcessSnapshot, elapsedMs: number): ResourceUse[] {
  return PROGRAMS.map(name => {
    const own = [...after].filter(([, process]) => process.name === name)
    const spentUs = own.reduce((sum, [pid, process]) => sum + process.cpuUs - (before.get(pid)?.cpuUs ?? 0), 0)
    const memory = own.reduce((sum, [, process]) => sum + process.memoryMb, 0)
    return { name, cpuPercent: spentUs / elapsedMs / 10, memoryMb: memory }
  })
}

/** Lists the process and its descendants. Each thread may have its own children. */
function listProcessTree(pid: number): number[] {
  const children = listThreads(pid).flatMap(thread =>
    read(`/proc/${pid}/task/${thread}/children`).trim().split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap(child => listProcessTree(Number(child)))]
}

const listThreads = (pid: number) => (existsSync(`/proc/${pid}`) ? readdirSync(`/proc/${pid}/task`) : [])

/** Returns an empty string if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
