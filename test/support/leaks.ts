import { readdirSync, readFileSync } from 'node:fs'

/** Other processes whose command line or environment contains the directory. */
export function listProcesses(dataDir: string): number[] {
  const names = (pid: string) => {
    try {
      const files = ['cmdline', 'environ'].map(file => readFileSync(`/proc/${pid}/${file}`, 'latin1'))
      return files.some(text => text.includes(dataDir))
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter(pid => /^\d+$/.test(pid) && Number(pid) !== process.pid && names(pid))
    .map(Number)
}
