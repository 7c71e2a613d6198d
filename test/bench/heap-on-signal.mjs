/** Loaded into a process that is measured: on SIGUSR2 it collects its garbage and logs what it holds, in bytes. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  collect()
  console.log(JSON.stringify({ event: 'heap', ...process.memoryUsage() }))
})
