/** Loaded into a measured process: on SIGUSR2 it runs the garbage collector and logs its memory in bytes. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  collect()
  console.log(JSON.stringify({ event: 'heap', ...process.memoryUsage() }))
})
